"""What was learned from a release, kept in a file: the same again, and nothing else is taken for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import disassociation as da
from commands import call
from disassociation.errors import FormatError, InputError
from disassociation.estimator import fit, fit_release
from disassociation.estimator_file import read_learned, write_learned


def release_of(seed: int = 1, k: int = 4) -> da.Release:
    return da.disassociate(da.generate_quest(records=600, terms=60, mean_length=5, random_state=seed), k=k, m=2)


def test_what_was_learned_is_kept(tmp_path: Path) -> None:
    """The first use writes the file, the next one reads it; the numbers are the same to the last bit."""
    release, again, path = release_of(), release_of(), tmp_path / "x.fit"
    first = fit(release, path)
    written = path.read_bytes()
    second = fit(again, path)
    assert second is not first
    assert fit(again) is second
    assert [part.tolist() for part in first.learned] == [part.tolist() for part in second.learned]
    codes = np.arange(len(release.vocabulary), dtype=np.int32)
    assert np.array_equal(first.expected_pairs(codes), second.expected_pairs(codes))
    assert path.read_bytes() == written
    other = release_of(seed=2)
    fit(other)
    with pytest.raises(FormatError, match="another release"):
        fit(other, path)  # even if nothing has to be learned any more
    with pytest.raises(ValueError, match="read-only"):
        second.learned.lifts[0, 0] = 2


def test_what_is_in_the_file_counts(tmp_path: Path) -> None:
    """It is read, not learned again."""
    release, path = release_of(), tmp_path / "x.fit"
    learned = fit(release).learned
    write_learned(fit_release(release, learned._replace(lifts=np.full_like(learned.lifts, 2))), path)
    assert (fit(release_of(), path).learned.lifts == 2).all()


def test_without_term_chunks(tmp_path: Path) -> None:
    release = da.disassociate([["a", "b"]] * 4, k=2, m=2)
    fit(release, tmp_path / "x.fit")
    assert len(read_learned(release, tmp_path / "x.fit").fitted) == min(len(release.vocabulary), 2)


def test_other_files_are_refused(tmp_path: Path) -> None:
    """Of another release, of other parameters, damaged in any place, longer, shorter, empty, or something else."""
    release, path = release_of(), tmp_path / "x.fit"
    fit(release, path)
    for other in (release_of(seed=2), release_of(k=5)):
        with pytest.raises(FormatError, match="another release"):
            read_learned(other, path)
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    nan = np.array([np.nan]).tobytes()
    for damaged in (whole[:-1], whole + b"\0", whole[:start], whole[:start] + nan + whole[start + 8 :]):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match="damaged"):
            read_learned(release, path)
    for strange in (b"", b"\n", b"[]\n", b'{"format": "x"}\n', bytes(100), b"9" * 5000):
        path.write_bytes(strange)
        with pytest.raises(FormatError, match="not what was learned"):
            read_learned(release, path)
    path.write_bytes(whole.replace(b'"version": 1', b'"version": 2', 1))
    with pytest.raises(FormatError, match="another version"):
        read_learned(release, path)
    for terms in (b"-1", b"true", b"1e3", b"99999999"):
        number = str(len(fit(release).learned.fitted)).encode()
        path.write_bytes(whole.replace(b'"terms": ' + number, b'"terms": ' + terms, 1))
        with pytest.raises(FormatError, match="damaged"):
            read_learned(release, path)
    with pytest.raises(InputError, match="cannot be read"):
        read_learned(release, tmp_path)


def test_at_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is made, used by the other commands, and refused where it does not belong; no term is named."""
    monkeypatch.chdir(tmp_path)
    release_of().save("one.release")
    release_of(seed=2).save("two.release")
    first = call("support", "one.release", "3", "7", "--fit", "one.fit")
    assert first.code == 0, first.err
    assert Path("one.fit").is_file()
    assert call("support", "one.release", "3", "7", "--fit", "one.fit").out == first.out
    assert call("support", "one.release", "3", "7").out == first.out
    assert call("itemsets", "one.release", "--top", "5", "--fit", "one.fit").code == 0
    drawn = call("reconstruct", "one.release", "-o", "x.dat", "--model", "empirical-bayes", "--fit", "one.fit")
    assert drawn.code == 0, drawn.err
    refused = call("support", "two.release", "3", "--fit", "one.fit")
    assert (refused.code, refused.out) == (2, b"")
    assert refused.err.count("\n") == 1
    assert "another release" in refused.err
    unused = call("support", "one.release", "3", "--fit", "one.fit", "--model", "independent")
    assert (unused.code, "--fit is for the model" in unused.err) == (2, True)
