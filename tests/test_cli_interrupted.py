"""Runs that are stopped, at any moment and in any way: a whole release or none, an older one left as it was."""

from __future__ import annotations

import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import disassociation as da
from commands import contents, run, start
from disassociation.release_writer import PARTIAL

RUNS = 50


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of records that takes a good part of a second."""
    path = tmp_path_factory.mktemp("source") / "in.dat"
    da.write(da.generate_quest(records=40_000, terms=3_000, random_state=1), path)
    return path


@pytest.fixture(scope="module")
def expected(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes | None]:
    """The release of that file."""
    folder = tmp_path_factory.mktemp("expected")
    da.disassociate(source).save(folder / "out")
    return contents(folder / "out")


def seconds_of_a_run(source: Path, folder: Path) -> float:
    """How long the command takes undisturbed."""
    began = time.monotonic()
    assert run("anonymize", source, "-o", folder / "timed").code == 0
    return time.monotonic() - began


def wait_for_partial(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Return when the release begins to be written, or the process is gone."""
    while process.poll() is None and not any(folder.glob(f".out.*{PARTIAL}")):
        time.sleep(0.0005)


def test_kill_at_random_moments(source: Path, expected: dict[str, bytes | None], tmp_path: Path) -> None:
    """Half of the moments are anywhere in the run, half while the release is written; every other run overwrites."""
    chance = random.Random(20121)
    whole = seconds_of_a_run(source, tmp_path)
    older = da.disassociate([["a", "b"]] * 9)
    seen = {"nothing": 0, "older": 0, "new": 0, "partial left": 0}
    for number in range(RUNS):
        folder = tmp_path / str(number)
        folder.mkdir()
        overwrites = number % 2 == 0
        if overwrites:
            older.save(folder / "out")
        process = start(["anonymize", source, "-o", folder / "out", "--overwrite"])
        if number % 4 < 2:
            time.sleep(chance.uniform(0, whole))
        else:
            wait_for_partial(folder, process)
            time.sleep(chance.uniform(0, 0.06))
        process.kill()
        process.communicate()
        for left in folder.glob(f".*{PARTIAL}"):
            seen["partial left"] += 1
            with pytest.raises(da.errors.FormatError):
                da.open_release(left)
        if not (folder / "out").exists():
            assert not overwrites
            seen["nothing"] += 1
        elif contents(folder / "out") == expected:
            seen["new"] += 1
        else:
            assert overwrites
            assert da.open_release(folder / "out") == older
            seen["older"] += 1
        shutil.rmtree(folder)
    assert all(seen.values()), f"some moments were never met: {seen}"


def check_stopped(process: subprocess.Popen[bytes], folder: Path) -> None:
    """A stopped command has said so in one line and left nothing."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == b"disassociate: stopped; no partial output is left\n"
    assert out == b""
    assert contents(folder) == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stop_while_reading(number: signal.Signals, source: Path, tmp_path: Path) -> None:
    """Ctrl-C and a request to terminate, while the command waits for more of its input."""
    process = start(["anonymize", "-", "-o", tmp_path / "out"], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(source.read_bytes())  # comes back when all but a pipe's fill is taken
    process.send_signal(number)
    check_stopped(process, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stop_while_writing(number: signal.Signals, source: Path, tmp_path: Path) -> None:
    """The same while the release is being written; it may also have come too late."""
    process = start(["anonymize", source, "-o", tmp_path / "out"])
    wait_for_partial(tmp_path, process)
    process.send_signal(number)
    process.wait(timeout=60)
    if (tmp_path / "out").exists():
        process.communicate()
        assert da.open_release(tmp_path / "out").records == 40_000
        assert len(list(tmp_path.iterdir())) == 1
    else:
        check_stopped(process, tmp_path)


def file_size_limit(size: int) -> Callable[[], None]:
    """Let no file grow larger, as a full disk would."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [0, 1_000, 100_000])
def test_a_disk_that_fills_up(size: int, source: Path, tmp_path: Path) -> None:
    """What cannot be written whole is not written; an older release stays."""
    da.disassociate([["a", "b"]] * 9).save(tmp_path / "out")
    before = contents(tmp_path)
    answer = run("anonymize", source, "-o", tmp_path / "out", "--overwrite", preexec_fn=file_size_limit(size))
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "cannot be written" in answer.err
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.jsonl.zst"])
def test_a_conversion_on_a_disk_that_fills_up(name: str, source: Path, tmp_path: Path) -> None:
    """Record files, too, appear whole or not at all."""
    answer = run("convert", source, tmp_path / name, preexec_fn=file_size_limit(50_000))
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert contents(tmp_path) == {}


def test_two_runs_at_once(source: Path, expected: dict[str, bytes | None], tmp_path: Path) -> None:
    """Both write the same release; one of them puts it in place, and nothing is damaged."""
    both = [start(["anonymize", source, "-o", tmp_path / "out", "--overwrite"]) for _ in range(2)]
    codes = {process.wait(timeout=120) for process in both}
    for process in both:
        process.communicate()
    assert 0 in codes
    assert codes <= {0, 2}
    assert contents(tmp_path / "out") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
