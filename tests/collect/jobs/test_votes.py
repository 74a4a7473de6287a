"""Several calls for one task: majorities, both orders, confidence, and nothing made up."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.judges import judge
from konsil.collect.jobs.votes import Ballot, Polled, poll, subject_of
from konsil.errors import CollectError, StudyError
from konsil.instrument import Criterion, Scale, mirrored
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.store import Batch, Store
from konsil.store.calls.calls import Calls
from konsil.study import Study, check, parse
from konsil.study.sections.calling import Inconsistent

AT = "2025-03-01T12:00:00Z"
QUICK = Options(back_off=0.001)
CORRECT = Criterion("correct", "?", Scale(("no", "yes"), abstain="cannot tell"))
BETTER = Criterion("better", "?", Scale(("A", "tie", "B"), abstain="cannot tell"), "pair")
DEGREES = Criterion(
    "better",
    "?",
    Scale(("A much", "A little", "tie", "B little", "B much"), level="ordinal"),
    "pair",
)
RISK = Criterion("risk", "?", Scale(kind="number", low=0, high=10))
WHY = Criterion("why", "?", Scale(kind="text"), "pair")


def said(criterion: Criterion, label: str | None, **more: object) -> Ballot:
    answers = ("x", "y") if criterion.scope == "pair" else ("x",)
    state = "abstained" if label is None else "rated"
    rating = Rating(
        "t", "j", criterion.id, "i", answers, state=state, label=label, seconds=2.0, at=AT
    )  # type: ignore[arg-type]
    return Ballot(ratings=(rating,), **more)  # type: ignore[arg-type]


def votes(criterion: Criterion, *labels: str | None, unreadable: int = 0) -> Polled:
    return poll(
        [*(said(criterion, label) for label in labels), *[Ballot()] * unreadable], [criterion]
    )


def orders(
    criterion: Criterion, first: list[str | None], second: list[str | None], rule: Inconsistent
) -> Polled:
    """`second` as the ratings have it: already the right way round again."""
    both = [
        *(said(criterion, v) for v in first),
        *(said(criterion, v, exchanged=True) for v in second),
    ]
    return poll(both, [criterion], rule)


def only(result: Polled) -> Rating:
    [found] = result.ratings
    return found


@pytest.mark.parametrize(
    ("labels", "label", "confidence"),
    [
        (("yes", "yes", "no"), "yes", 2 / 3),
        (("yes", "yes", "yes"), "yes", 1.0),
        (("yes", None, "yes", "no", "yes"), "yes", 3 / 5),
        (("yes", None), "yes", 1 / 2),
        ((None, None, "yes"), None, 2 / 3),
        ((None,), None, None),
        (("yes",), "yes", None),
    ],
)
def test_a_majority_is_a_label(
    labels: tuple[str | None, ...], label: str | None, confidence: float | None
) -> None:
    found = only(votes(CORRECT, *labels))
    assert (found.label, found.state) == (label, "abstained" if label is None else "rated")
    assert found.confidence == (pytest.approx(confidence) if confidence is not None else None)
    assert found.seconds == 2.0 * len(labels)


HARM = Criterion(
    "harm", "?", Scale(("none", "mild", "severe", "death"), level="ordinal", abstain="cannot tell")
)


@pytest.mark.parametrize(
    ("labels", "majority", "median", "expectation"),
    [
        (("none", "mild", "severe"), None, "mild", "mild"),
        (("none", "none", "death"), "none", "none", "mild"),
        (("none", "mild", "severe", "death"), None, "mild", "mild"),
        (("none", "death", None), None, "none", "mild"),
        (("severe",), "severe", "severe", "severe"),
    ],
)
def test_votes_on_an_ordered_scale_have_a_middle_and_a_mean(
    labels: tuple[str | None, ...], majority: str | None, median: str, expectation: str
) -> None:
    cast = [said(HARM, label) for label in labels]
    for combine, label in (
        ("majority", majority),
        ("median", median),
        ("expectation", expectation),
    ):
        result = poll(cast, [HARM], combine=combine)  # type: ignore[arg-type]
        assert [r.label for r in result.ratings] == ([] if label is None else [label])
    assert (
        only(poll([said(HARM, v) for v in (None, None, "mild")], [HARM], combine="median")).state
        == "abstained"
    )
    assert poll([said(HARM, "mild"), Ballot()], [HARM], combine="median").ratings == ()


def test_an_expectation_is_weighted_with_the_labels_probabilities() -> None:
    subject = ("harm", frozenset({"x"}), None)
    one = said(
        HARM,
        "none",
        chances={subject: {"none": 0.4, "severe": 0.3, "death": 0.2, "cannot tell": 0.1}},
    )
    assert only(poll([one], [HARM], combine="expectation")).label == "mild"
    assert only(poll([one], [HARM], combine="majority")).label == "none"


def test_labels_without_an_order_need_a_majority_whatever_the_rule() -> None:
    for combine in ("median", "expectation"):
        result = poll([said(CORRECT, "yes"), said(CORRECT, "no")], [CORRECT], combine=combine)  # type: ignore[arg-type]
        assert [u.outcome for u in result.undecided] == ["no majority"]


def test_no_majority_is_missing_and_no_abstention() -> None:
    result = votes(CORRECT, "yes", "no", None)
    assert result.ratings == ()
    [why] = result.undecided
    assert why.outcome == "no majority"
    assert json.loads(why.evidence) == {
        "criterion": "correct",
        "answers": ["x"],
        "votes": ["yes", "no", {"state": "abstained"}],
    }


def test_where_half_of_the_votes_cannot_be_read_nothing_is_said() -> None:
    assert votes(CORRECT, "yes", "yes", unreadable=2) == Polled((), ())
    assert only(votes(CORRECT, "yes", "yes", unreadable=1)).confidence == 1.0
    assert votes(CORRECT, unreadable=3) == Polled((), ())


def test_numbers_have_a_middle_and_texts_a_first() -> None:
    found = only(votes(RISK, "2", "10", "3", "9.5"))
    assert (found.label, found.confidence) == ("3", None)
    assert only(votes(WHY, "because", "so")).label == "because"


@settings(deadline=None)
@given(st.lists(st.sampled_from(["no", "yes", None]), min_size=1, max_size=7))
def test_the_order_of_votes_changes_nothing(labels: list[str | None]) -> None:
    found = {
        tuple((r.label, r.state, r.confidence) for r in votes(CORRECT, *order).ratings)
        for order in itertools.islice(itertools.permutations(labels), 30)
    }
    assert len(found) == 1
    counts = Counter(labels)
    for label, state, _ in next(iter(found)):
        mine = counts[label]
        assert 2 * mine > (len(labels) if state == "abstained" else len(labels) - counts[None])


@pytest.mark.parametrize(
    ("first", "second", "rule", "label", "outcome"),
    [
        ("A", "A", "missing", "A", None),
        ("A", "B", "missing", None, "inconsistent"),
        ("A", "B", "tie", "tie", "inconsistent"),
        ("A", "tie", "tie", "tie", "inconsistent"),
        ("tie", "tie", "tie", "tie", None),
        ("A", None, "tie", None, "inconsistent"),
    ],
)
def test_both_orders(
    first: str, second: str | None, rule: Inconsistent, label: str | None, outcome: str | None
) -> None:
    result = orders(BETTER, [first], [second], rule)
    assert [r.label for r in result.ratings] == ([label] if label is not None else [])
    assert [u.outcome for u in result.undecided] == ([outcome] if outcome else [])
    if result.ratings:
        assert only(result).confidence == (1.0 if outcome is None else only(result).confidence)


def test_abstaining_in_both_orders_is_an_abstention() -> None:
    assert only(orders(BETTER, [None], [None], "missing")).state == "abstained"


@pytest.mark.slow
@settings(deadline=None)
@given(st.sampled_from(DEGREES.scale.labels), st.sampled_from(DEGREES.scale.labels))
def test_degrees_meet_between_the_two_towards_the_tie(a: str, b: str) -> None:
    labels = DEGREES.scale.labels
    place = {label: n - 2 for n, label in enumerate(labels)}
    found = place[str(only(orders(DEGREES, [a], [b], "tie")).label)]
    assert abs(found) <= abs(place[a] + place[b]) / 2
    assert abs(found - (place[a] + place[b]) / 2) < 1
    turned = only(orders(DEGREES, [mirrored(DEGREES, a)], [mirrored(DEGREES, b)], "tie"))
    assert place[str(turned.label)] == -found


def test_votes_are_counted_within_each_order_first() -> None:
    result = orders(BETTER, ["A", "A", "B"], ["B", "B", "B"], "missing")
    assert [u.outcome for u in result.undecided] == ["inconsistent"]
    assert only(
        orders(BETTER, ["A", "A", "B"], ["A", "A", "A"], "missing")
    ).confidence == pytest.approx(5 / 6)
    assert orders(BETTER, ["A", "B"], ["A", "A"], "missing").undecided[0].outcome == "no majority"


def test_what_does_not_compare_is_voted_on_over_both_orders() -> None:
    result = orders(CORRECT, ["yes"], ["no"], "tie")
    assert (result.ratings, [u.outcome for u in result.undecided]) == ((), ["no majority"])
    assert only(orders(CORRECT, ["yes"], ["yes"], "tie")).label == "yes"


def test_probabilities_are_averaged() -> None:
    subject = subject_of(said(CORRECT, "yes").ratings[0])
    ballots = [
        said(CORRECT, "yes", chances={subject: {"yes": 0.9, "no": 0.1}}),
        said(CORRECT, "no", chances={subject: {"yes": 0.4, "no": 0.6}}),
        said(CORRECT, "yes"),
    ]
    assert only(poll(ballots, [CORRECT])).confidence == pytest.approx((0.9 + 0.4 + 1.0) / 3)


# From study.toml to the store ---------------------------------------------------------------------

TEXT = """
title = "t"
seed = 1
[[instruments]]
id = "form"
unit = "pair"
[[instruments.criteria]]
id = "better"
question = "Which is better?"
scope = "pair"
scale = {{ labels = ["A", "tie", "B"] }}
[[raters]]
id = "j"
panel = "judges"
kind = "llm"
[[judges]]
rater = "j"
model = "fake:j{faults}"
{keys}
"""


def study(keys: str, faults: str = "") -> Study:
    made = parse(TEXT.format(keys=keys, faults=faults), lambda name: name)
    check(made)
    return made


@pytest.fixture
def pairs(store: Store) -> Store:
    n = 30
    items = [Item(f"i{k}", f"Question {k}?") for k in range(n)]
    answers = [Answer(f"i{k}:{s}", f"i{k}", s, f"answer {s}") for k in range(n) for s in "ab"]
    # Half of the screens show the second answer first.
    tasks = [
        Task(f"t{k}", f"s{k}", "j", "form", f"i{k}", (f"i{k}:a", f"i{k}:b")[:: 1 - 2 * (k % 2)])
        for k in range(n)
    ]
    store.add(
        Batch(items=items, answers=answers, raters=[Rater("j", "judges", "llm")], tasks=tasks),
        source="x",
        at=AT,
    )
    return store


def test_votes_in_both_orders_are_calls_of_their_own(pairs: Store) -> None:
    made = study('votes = 3\norders = "both"')
    done = judge(made, pairs, QUICK)
    assert done.progress.ended == 30 * 6
    calls = list(Calls(pairs).each())
    assert len({c.work for c in calls}) == len({c.key for c in calls}) == 30 * 6
    outcomes = Counter(a.outcome for a in pairs.attempts())
    assert outcomes["ok"] == 30 * 6
    assert outcomes["inconsistent"] > 0
    assert outcomes["no majority"] > 0
    assert len(pairs.ratings()) == 30 - outcomes["inconsistent"] - outcomes["no majority"]
    assert all(0 < (r.confidence or 0) <= 1 for r in pairs.ratings())
    assert judge(made, pairs, QUICK).progress.total == 0
    assert pairs.verify_log() == ()


def test_answers_with_the_same_text_are_shown_in_both_orders_too(store: Store) -> None:
    alike = [Answer(f"i:{s}", "i", s, "the same") for s in "ab"]
    task = Task("t", "s", "j", "form", "i", ("i:a", "i:b"))
    held = Batch(
        items=[Item("i", "?")], answers=alike, raters=[Rater("j", "judges", "llm")], tasks=[task]
    )
    store.add(held, source="x", at=AT)
    assert judge(study('orders = "both"'), store, QUICK).progress.ended == 2
    assert len(list(Calls(store).each())) == 2


def test_labels_of_the_exchanged_order_are_read_the_other_way_round(pairs: Store) -> None:
    """A judge that always names the first answer contradicts itself in every pair."""
    from konsil.collect.fake.fake import FakeProvider, Script
    from konsil.collect.jobs import job_lanes

    def first(*_: object) -> str:
        return '{"better": "A"}'

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_lanes, "provider_of", lambda *_: FakeProvider(Script(first)))
        judge(study('orders = "both"'), pairs, QUICK)
    assert pairs.ratings() == ()
    assert Counter(a.outcome for a in pairs.attempts()) == {"ok": 60, "inconsistent": 30}
    told = [json.loads(a.raw) for a in pairs.attempts() if a.outcome == "inconsistent"]
    assert {tuple(sorted(t["votes"])) for t in told} == {("A", "B")}


def test_a_judge_that_keeps_to_its_word_is_consistent(pairs: Store) -> None:
    from konsil.collect.fake.fake import FakeProvider, Script
    from konsil.collect.jobs import job_lanes
    from konsil.collect.providers.provider import Request

    def steady(request: Request, _: object) -> str:
        text = request.messages[-1].text
        return json.dumps(
            {"better": "A" if text.index("answer a") < text.index("answer b") else "B"}
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_lanes, "provider_of", lambda *_: FakeProvider(Script(steady)))
        judge(study('orders = "both"'), pairs, QUICK)
    found = {r.answers: (r.label, r.confidence) for r in pairs.ratings()}
    assert found == {(f"i{k}:a", f"i{k}:b"): ("A", 1.0) for k in range(30)}


def test_a_task_waits_for_its_last_vote(pairs: Store) -> None:
    made = study("votes = 3")
    judge(made, pairs, Options(limit=70, back_off=0.001))
    assert len({a.task for a in pairs.attempts()}) == 10
    judge(made, pairs, QUICK)
    assert len({a.task for a in pairs.attempts()}) == 30
    whole = {(r.task, r.label, r.confidence) for r in pairs.ratings()}
    assert {c for _, _, c in whole} <= {2 / 3, 1.0}


def test_stopped_or_not_the_ratings_are_the_same(pairs: Store, tmp_path: object) -> None:
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    made = study("votes = 3", ",malformed=0.2,refused=0.1")
    for limit in (1, 40, 3):
        judge(made, pairs, Options(limit=limit, back_off=0.001))
    judge(made, pairs, QUICK)
    (tmp_path / "other").mkdir()
    with Store.open(tmp_path / "other") as other:
        held = pairs.batch()
        other.add(
            Batch(items=held.items, answers=held.answers, raters=held.raters, tasks=held.tasks),
            source="x",
            at=AT,
        )
        judge(made, other, QUICK)
        assert {replace(r, at="", seconds=0.0) for r in other.ratings()} == {
            replace(r, at="", seconds=0.0) for r in pairs.ratings()
        }


def test_more_votes_than_before_are_another_setting(pairs: Store) -> None:
    judge(study("votes = 3"), pairs, QUICK)
    with pytest.raises(CollectError, match="collected with another model, prompt or setting"):
        judge(study("votes = 5"), pairs, QUICK)


def test_asking_again_for_one_vote_replaces_no_rating(pairs: Store) -> None:
    made = study("votes = 3", ",refused=0.3")
    judge(made, pairs, QUICK)
    before = set(pairs.ratings())
    tasks = {r.task for r in before}
    missing = 30 - len(tasks)
    assert missing
    again = judge(made, pairs, Options(again=("refused",), back_off=0.001))
    assert again.progress.total > 0
    assert before <= set(pairs.ratings())
    asked = {c.subject for c in Calls(pairs).each() if c.attempt > 1 and c.outcome != "re-asked"}
    assert not asked & tasks


def test_a_seed_rises_from_vote_to_vote(pairs: Store) -> None:
    judge(study("votes = 3\nsettings = { seed = 7, temperature = 0.7 }"), pairs, QUICK)
    assert Counter(c.asked["seed"] for c in Calls(pairs).each()) == {7: 30, 8: 30, 9: 30}


def test_log_probabilities_give_a_confidence(pairs: Store) -> None:
    judge(study("logprobs = true"), pairs, QUICK)
    assert len(pairs.ratings()) == 30
    found = [r.confidence for r in pairs.ratings()]
    assert all(c is not None and 1 / 3 - 1e-9 <= c < 1 for c in found)
    assert len(set(found)) == 30


@pytest.mark.slow
def test_log_probabilities_over_a_socket_and_from_a_server_without(
    pairs: Store, tmp_path: object
) -> None:
    from pathlib import Path

    from fake_server import running
    from konsil.store.calls.call_settings import callees

    assert isinstance(tmp_path, Path)
    text = TEXT.format(keys="logprobs = true", faults="").replace("fake:j", "near:j")
    endpoint = '[[endpoints]]\nid = "near"\nurl = "{}/v1"\n'
    with running() as url:
        judge(parse(text + endpoint.format(url), lambda name: name), pairs, QUICK)
    assert all(r.confidence is not None for r in pairs.ratings())
    assert callees(pairs)[0].without == {}
    (tmp_path / "other").mkdir()
    with Store.open(tmp_path / "other") as other, running(refuse=("logprobs",)) as url:
        held = pairs.batch()
        other.add(
            Batch(items=held.items, answers=held.answers, raters=held.raters, tasks=held.tasks),
            source="x",
            at=AT,
        )
        judge(parse(text + endpoint.format(url), lambda name: name), other, QUICK)
        assert [r.confidence for r in other.ratings()] == [None] * 30
        assert callees(other)[0].without == {"logprobs": 30}


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("votes = 0", r"judges\[0\].votes: expected 1 or more, got 0"),
        (
            "votes = 3\nsettings = { temperature = 0 }",
            "3 votes at temperature 0 are identical",
        ),
        ('inconsistent = "tie"', 'without orders = "both" there is nothing'),
        ('settings = { tools = ["web_search"] }', "a judge has no tools"),
        (
            'orders = "bot"',
            r"judges\[0\].orders: 'bot' is not one of 'one', 'both'; did you mean 'both'",
        ),
        ("vote = 3", r"judges\[0\].vote: unknown key; did you mean 'votes'"),
    ],
)
def test_what_cannot_be_asked_so_is_told(keys: str, says: str) -> None:
    with pytest.raises(StudyError, match=says):
        study(keys)


@pytest.mark.parametrize(
    ("scale", "rule", "says"),
    [
        ('["left", "right", "equal"]', "missing", "has no defined reverse"),
        ('["A", "B"]', "tie", "has no label for a tie"),
    ],
)
def test_scales_that_cannot_be_turned_are_told(scale: str, rule: str, says: str) -> None:
    text = TEXT.format(keys=f'orders = "both"\ninconsistent = "{rule}"', faults="")
    with pytest.raises(StudyError, match=says):
        check(parse(text.replace('["A", "tie", "B"]', scale), lambda name: name))
    with pytest.raises(StudyError, match="no instrument of 'j' compares pairs"):
        check(parse(text.replace('scope = "pair"', 'scope = "answer"'), lambda name: name))
