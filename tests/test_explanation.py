"""Where terms ended, and why: the same as in plain sets, and what is called implied is true of every original tried."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import assume, event, given, settings

import disassociation as da
import naive
from disassociation.errors import ParameterError
from disassociation.explanation import Cause, Explanation, Known, explain
from disassociation.params import Parameters
from disassociation.release import Release
from naive.attack import sources
from naive.forest import Forest, Leaf, Record, leaves, paths
from naive.horizontal import Rules, split
from naive.vertical import partition_leaf
from strategies import Problem, Published, nested_problems, problems, sound_releases
from test_support import opened

FIELDS = ("clusters", "records")
Places = dict[tuple[str, int | None], tuple[int, ...]]


def height(cluster: naive.Cluster) -> int:
    return 0 if isinstance(cluster, Leaf) else 1 + max(map(height, cluster.children))


def levels(forest: Forest) -> dict[int, int]:
    return {id(joint): height(joint) for _, above in paths(forest) for joint in above}


def count(bag: naive.Bag, itemset: Record) -> int:
    return sum(itemset <= row for row in bag)


def places_of_term(forest: Forest, term: str) -> Places:
    """Leaf by leaf; the subrecords of a chunk are counted once."""
    found: dict[tuple[str, int | None], list[int]] = {}
    met: set[object] = set()
    high = levels(forest)
    for leaf, here in zip(leaves(forest), sources(forest), strict=True):
        if term not in here:
            continue
        place = here[term]
        kind: tuple[str, int | None] = ("term chunks", None)
        lower, upper = 1, leaf.n
        if place is not None:
            own = place.name[0] == "own"
            kind = ("record chunks", None) if own else ("shared chunks", high[place.name[1]])  # type: ignore[index]
            chunk = chunk_of(forest, place.name)
            lower = upper = 0 if place.name in met else count(chunk, frozenset([term]))
            met.add(place.name)
        total = found.setdefault(kind, [0, 0, 0, 0])
        for i, number in enumerate((1, leaf.n, lower, upper)):
            total[i] += number
    return {kind: tuple(total) for kind, total in found.items()}


def chunk_of(forest: Forest, name: tuple[object, ...]) -> naive.Bag:
    """A chunk by the name the oracle gives it."""
    if name[0] == "own":
        return leaves(forest)[name[1]].record_chunks[name[2]]  # type: ignore[call-overload, no-any-return]
    joint = next(one for _, above in paths(forest) for one in above if id(one) == name[1])
    return joint.shared_chunks[name[2]]  # type: ignore[call-overload, no-any-return]


def kind_of_pair(forest: Forest, first: object, second: object) -> tuple[str, int | None]:
    """In which relation a leaf has two terms, by their sources."""
    hidden = (first is None) + (second is None)
    if hidden:
        return ("one in the term chunk" if hidden == 1 else "both in the term chunk"), None
    names = first.name, second.name  # type: ignore[attr-defined]
    if names[0] == names[1]:
        own = names[0][0] == "own"
        return ("record chunks", None) if own else ("shared chunks", levels(forest)[names[0][1]])
    shared = "shared" in (names[0][0], names[1][0])
    return ("two chunks, one or both shared" if shared else "two record chunks"), None


def places_of_pair(forest: Forest, pair: Record) -> Counter[tuple[tuple[str, int | None], str]]:
    """How many leaves and records of each kind."""
    found: Counter[tuple[tuple[str, int | None], str]] = Counter()
    for leaf, here in zip(leaves(forest), sources(forest), strict=True):
        if pair & here.keys():
            kind = ("only one there", None) if not pair <= here.keys() else kind_of_pair(forest, *map(here.get, pair))
            found[kind, "clusters"] += 1
            found[kind, "records"] += leaf.n
    return found


@settings(max_examples=150, deadline=None)
@given(sound_releases())
def test_terms_of_any_release(published: Published) -> None:
    """Kinds of chunks, with leaves, records and what they hold, for releases that anybody may have made."""
    both = opened(published.forest)
    for name in both.release.vocabulary.to_pylist():
        found = explain_places(both.release, [name])
        assert found == places_of_term(both.forest, name)


def explain_places(release: Release, terms: list[str]) -> Places:
    """The part that needs no possible original."""
    from disassociation.explanation import pair_places, term_places
    from disassociation.support import codes_of

    codes = codes_of(release, terms).tolist()
    places = term_places(release, codes[0]) if len(codes) == 1 else pair_places(release, codes)
    assert len({place[:2] for place in places}) == len(places)
    return {place[:2]: place[2:] for place in places}


@settings(max_examples=150, deadline=None)
@given(sound_releases())
def test_pairs_of_any_release(published: Published) -> None:
    """The same for pairs; the numbers of the true world are within what each kind says, together."""
    both = opened(published.forest)
    names = both.release.vocabulary.to_pylist()
    for pair in map(frozenset, combinations(names, 2)):
        found = explain_places(both.release, sorted(pair))
        plain = places_of_pair(both.forest, pair)
        assert {
            (kind, field): number
            for kind, numbers in found.items()
            for field, number in zip(FIELDS, numbers[:2], strict=True)
        } == dict(plain)
        true = sum(count(bag, pair) for bag in published.original)
        assert sum(numbers[2] for numbers in found.values()) <= true <= sum(numbers[3] for numbers in found.values())


def made(problem: Problem) -> tuple[da.Transactions, Parameters, Release]:
    """The release of a problem."""
    parameters = Parameters(
        problem.k,
        problem.m,
        problem.l,
        problem.max_cluster_size,
        problem.sensitive,
        problem.groups,
        problem.refine,
        problem.method,
    )
    data = da.read([sorted(record) for record in problem.records])
    try:
        release = da.disassociate(
            data,
            k=problem.k,
            m=problem.m,
            l=problem.l,
            max_cluster_size=problem.max_cluster_size,
            sensitive=problem.sensitive,
            keep_together=problem.groups,
            refine=problem.refine,
            method=problem.method,
        )
    except ParameterError:
        assume(False)
    return data, parameters, release


def plain_reasons(problem: Problem, term: str) -> dict[str, tuple[int, int]]:
    """Leaves and occurrences by reason, from the oracle's stages."""
    minimum = max(problem.k, problem.l or 0)
    rules = Rules(minimum, max(problem.max_cluster_size, 2 * minimum), problem.sensitive, problem.l, problem.groups)
    forest, _ = naive.anonymize(
        problem.records, problem.k, problem.m, problem.max_cluster_size, problem.sensitive, problem.l, problem.groups,
        problem.refine, problem.method,
    )  # fmt: skip
    final = {int(leaf.name): leaf for leaf in leaves(forest)}
    found: dict[str, tuple[int, int]] = {}
    for number, part in enumerate(split([r for r in problem.records if r], None, frozenset(), rules)):
        support = count(tuple(part), frozenset([term]))
        if not support:
            continue
        domains, _ = partition_leaf(part, problem.k, problem.m, problem.sensitive, problem.groups)
        if any(term in domain for domain in domains):
            kind = "frequent"
        elif term not in final[number].term_chunk:
            kind = "lifted"
        elif term in problem.sensitive:
            kind = "sensitive"
        else:
            kind = "rare" if support < problem.k else "moved"
        had = found.get(kind, (0, 0))
        found[kind] = (had[0] + 1, had[1] + support)
    return found


def causes(found: Explanation) -> Counter[str]:
    return Counter({cause.kind: cause.clusters for cause in found.causes})


def check_term(problem: Problem) -> None:
    """Known reasons are the oracle's; what is implied is so, told of sensitive terms or not."""
    data, parameters, release = made(problem)
    for term in release.vocabulary.to_pylist():
        found = explain(release, [term], original=data, parameters=parameters)
        assert found.known is not None
        known = {one.kind: (one.clusters, one.records) for one in found.known}
        assert known == plain_reasons(problem, term)
        true = {kind: numbers[0] for kind, numbers in known.items()}
        rare, moved = true.get("rare", 0), true.get("moved", 0)
        told, untold = causes(found), causes(explain(release, [term]))
        assert told["sensitive"] == true.get("sensitive", 0)
        assert moved <= told["rare or moved"]
        assert told["rare"] + told["rare or moved"] == rare + moved
        assert untold["rare"] <= told["rare"]
        if untold["rare"] or untold["rare or moved"]:
            assert term not in problem.sensitive
        event("moved" if moved else "none moved")


def check_pairs(problem: Problem) -> None:
    """Pairs in two record chunks that are implied to be too few together are."""
    data, parameters, release = made(problem)
    for pair in list(combinations(release.vocabulary.to_pylist(), 2))[:15]:
        found = explain(release, pair, original=data, parameters=parameters)
        assert found.known is not None
        known = {one.kind: one for one in found.known}
        assert causes(explain(release, pair))["too few together"] <= causes(found)["too few together"]
        few = known["few"].clusters if "few" in known else 0
        assert causes(found)["too few together"] <= few
        assert sum(one.records for one in found.known) == count(problem.records, frozenset(pair))
        apart = sum(known[kind].clusters for kind in ("few", "never", "third") if kind in known)
        assert sum(causes(found).values()) == apart
        event(", ".join(known))


@settings(max_examples=80, deadline=None)
@given(problems())
def test_reasons(problem: Problem) -> None:
    """Small problems of every kind."""
    check_term(problem)
    check_pairs(problem)


@settings(max_examples=60, deadline=None)
@given(nested_problems())
def test_reasons_under_joint_clusters(problem: Problem) -> None:
    """Terms lifted out of term chunks, and not."""
    check_term(problem)


def test_a_third_term() -> None:
    """A pair often enough together, but one of the two too rarely with another term, which is named on demand."""
    data = da.read([row.split() for row in ["a b"] * 4 + ["b c"] * 4 + ["a c"]])
    release = da.disassociate(data, k=3, m=2)
    found = da.explain(release, ["b", "c"], original=data)
    assert found.known == (Known("third", 1, 4, ("a",)),)
    assert found.to_text(show_values=True).endswith("; 4 (a)")
    assert found.to_text().endswith("; 4")
    assert found.to_dict(show_values=True)["known"][0]["thirds"] == ["a"]
    assert found.to_dict()["known"][0]["thirds"] == 1


def test_alone_in_two_chunks() -> None:
    """Two chunks of one term each: what kept them apart can only have been that both are in too few records."""
    data = da.read([row.split() for row in ["a"] * 4 + ["b"] * 4 + ["a b", "x", "y"]])
    found = da.disassociate(data, k=3, m=2, max_cluster_size=20).explain(["a", "b"])
    assert [cause.kind for cause in found.causes] == ["too few, with others or not"]  # x or y may be sensitive
    found = da.explain(da.disassociate(data, k=3, m=2, max_cluster_size=20), ["a", "b"], sensitive=[])
    assert found.causes == (Cause("too few together", 1, True),)


def test_settings() -> None:
    """The first is the release itself; each is what explaining that release says."""
    data = da.generate_quest(records=400, terms=40, mean_length=5)
    release = da.disassociate(data, k=3, m=2)
    for terms in (["1"], ["1", "2"]):
        terms = [release.vocabulary[int(term)].as_py() for term in terms]
        found = da.explain(release, terms, original=data, what_if=True)
        triples = [setting[:3] for setting in found.settings]
        assert triples == [
            (3, 2, 10),
            (2, 2, 10),
            (4, 2, 10),
            (6, 2, 12),
            (3, 1, 10),
            (3, 3, 10),
            (3, 2, 20),
            (3, 2, 30),
        ]
        for setting in found.settings:
            k, m, size = setting[:3]
            other = da.disassociate(data, k=k, m=m, max_cluster_size=size).explain(terms)
            inside = sum(place.lower for place in other.places if place.kind in ("record chunks", "shared chunks"))
            assert setting.in_record_chunks + setting.in_shared_chunks == inside
            assert setting.records == sum(set(terms) <= set(record) for record in data)
            assert setting.elsewhere == setting.records - inside


def test_what_is_refused() -> None:
    """No or three terms, one text, other records, and other settings without the original."""
    data = da.read([["SECRETa", "SECRETb"]] * 4)
    release = da.disassociate(data, k=2, m=2)
    for terms in ([], ["a", "b", "c"], "SECRETa"):
        with pytest.raises(ParameterError):
            release.explain(terms)
    with pytest.raises(ParameterError, match="the release has 4 records, the original 5"):
        da.explain(release, ["SECRETa"], original=da.read([["SECRETa", "SECRETb"]] * 5))
    with pytest.raises(ParameterError, match="do not make this release"):
        da.explain(release, ["SECRETa"], original=da.read([["SECRETa", "SECRETb"]] * 3 + [["SECRETa"]]))
    with pytest.raises(ParameterError, match="only with the original"):
        da.explain(release, ["SECRETa"], what_if=True)


def test_unknown_terms_and_forms() -> None:
    """A term that is not there is in no place; text shows no term, and the rest is what JSON can hold."""
    data = da.read([["SECRETa", "SECRETb"]] * 4 + [["SECRETa", "SECRETc"]])
    release = da.disassociate(data, k=2, m=2)
    nowhere = da.explain(release, ["SECRETa", "x"], original=data)
    assert (nowhere.unknown, nowhere.places, nowhere.causes, nowhere.known) == (1, (), (), ())
    found = da.explain(release, iter(["SECRETa", "SECRETc"]), original=data, what_if=True)
    assert "SECRET" not in str(found)
    assert json.loads(json.dumps(found.to_dict()))["terms"] == ["SECRETa", "SECRETc"]
    assert found.support == release.support(["SECRETa", "SECRETc"])
