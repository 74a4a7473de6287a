"""Duplicates are searched by a command, decided on in a table with who decided, left out of the
draw and reported."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from konsil.api import Folder, open_folder
from konsil.api.curation.duplicates import lines_of, search_duplicates
from konsil.api.curation.preparing import prepare
from konsil.api.curation.requests import DuplicatesRequest, ScreeningRequest
from konsil.api.curation.screening import screen_items
from konsil.api.rehearsal.rehearsal import simulate, truth_of
from konsil.cli import main
from konsil.errors import SourceError, StudyError
from konsil.prepare import decisions
from konsil.prepare.identifiers.duplicates import last_duplicates
from konsil.prepare.identifiers.identifiers import RECALL
from small_studies import ITEMS, form, import_items, raters, study_text, systems

STUDY = study_text(
    "Asked twice",
    form(),
    systems("a"),
    raters("p1"),
    ITEMS,
    '[prepare.screen]\nrules = ["follow-up"]',
    seed=3,
)
PLAN = """
[[plan]]
panel = "people"
instrument = "form"
[[analyses]]
name = "Correct"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "people"
"""
DOSE = "Which dose of apixaban at a GFR of 28 ml/min in a woman of 72 years?"
TEXTS = (
    DOSE,
    DOSE,
    DOSE.upper(),
    DOSE.replace("Which", "What"),
    "Stop aspirin?",
    " stop  aspirin",
    "Other thing?",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return import_items(
        tmp_path, STUDY, [("item", "text"), *((f"q{n}", text) for n, text in enumerate(TEXTS))]
    ).path


def test_from_the_search_to_the_draw(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = folder / "duplicates.csv"
    main(["duplicates", str(folder), "--table", str(table)])
    said = capsys.readouterr().out
    assert "7 items: 6 in 2 groups of duplicates" in said
    assert "  exact: 2\n  same words: 3\n  near: 1\n  translated: not searched\n" in said
    assert "6 items in 2 groups still count as independent" in said
    study = open_folder(folder)
    screen_items(study)
    with pytest.raises(SystemExit):
        main(["duplicates", str(folder), "--leave-one"])
    assert "--leave-one: --by is missing" in capsys.readouterr().err
    rows = list(csv.DictReader(io.StringIO(table.read_text("utf-8"))))
    assert [row["item"] for row in rows] == ["q0", "q1", "q2", "q3", "q4", "q5"]
    table.write_text("item,decision\nq3,apart\n", "utf-8")
    main(["duplicates", str(folder), "--decisions", str(table), "--leave-one", "--by", "p-7"])
    said = capsys.readouterr().out
    assert (
        "declared distinct by reviewers: 1\n  excluded as duplicates: 3\n0 items in 0 groups still"
        in said
    )
    assert prepare(study).drawn.lost == {"duplicate": 3}
    with study.store() as store:
        events = store.events()
    assert [(one.item, one.decision, one.by) for one in decisions(events)] == [
        (item, "duplicate", "staff-1") for item in ("q1", "q2", "q5")
    ]
    held = last_duplicates(events)[1]
    assert held is not None
    assert held.apart == {"q3": "staff-1"}
    main(["duplicates", str(folder)])
    assert "nothing has changed" in capsys.readouterr().out
    screen_items(study)
    assert prepare(study).drawn.size == 4


@pytest.mark.parametrize(
    ("language", "says"),
    [("en", ">Items in groups of duplicates<"), ("de", ">Items in Gruppen von Dubletten<")],
)
def test_the_report_counts_those_that_remain(folder: Path, language: str, says: str) -> None:
    protocol = f'language = "{language}"\nsimulated = true\nlicence = "CC0-1.0"\n' + STUDY + PLAN
    (folder / "study.toml").write_text(protocol, "utf-8")
    (folder / "simulation.toml").write_text("[panels.people]\naccuracy = 0.9\n", "utf-8")
    study = open_folder(folder)
    search_duplicates(study)
    screen_items(study)
    prepare(study)
    simulate(study, truth_of(study))
    row = study.report().read_text("utf-8").partition(says)[2].partition("</tr>")[0]
    assert row.count(">6<") == 1, row


def simulated(folder: Path, language: str = "en", more: str = "") -> Folder:
    protocol = (
        f'language = "{language}"\nsimulated = true\nlicence = "CC0-1.0"\n' + STUDY + PLAN + more
    )
    (folder / "study.toml").write_text(protocol, "utf-8")
    (folder / "simulation.toml").write_text("[panels.people]\naccuracy = 0.9\n", "utf-8")
    return open_folder(folder)


BY_TOPIC = """
[[analyses]]
name = "By topic"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "people"
by = ["topic"]
compare = "topic"
"""


def notes(study: Folder, name: str) -> list[tuple[str, str]]:
    """The group of each of an analysis' rows, and what it says of duplicates."""
    rows = [row for row in study.results().rows if row.analysis == name]
    return [
        (row.kind + row.group.get("topic", ""), next((w for w in row.warnings if "dupl" in w), ""))
        for row in rows
    ]


@pytest.mark.slow
def test_every_estimate_with_duplicates_among_its_own_items_says_how_many(folder: Path) -> None:
    texts = [(f"q{n}", text, "dose" if n < 3 else "other") for n, text in enumerate(TEXTS)]
    with (folder / "items.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("item", "text", "topic"), *texts])
    (folder / "konsil.db").unlink()
    study = simulated(folder, more=BY_TOPIC)
    protocol = (folder / "study.toml").read_text("utf-8")
    (folder / "study.toml").write_text(
        protocol.replace('"items"\n', '"items"\nstrata = ["topic"]\n', 1), "utf-8"
    )
    study = open_folder(folder)
    study.import_sources()
    screen_items(study)
    simulate(study, truth_of(study))
    # Nobody has searched: at least equal texts are counted.
    assert all(
        text.startswith("5 of the 7 items are in 2 groups") for _, text in notes(study, "Correct")
    )
    search_duplicates(study)
    whole = notes(study, "Correct")
    assert whole
    assert all(
        text.startswith("6 of the 7 items are in 2 groups of duplicates") for _, text in whole
    )
    by_topic = dict(notes(study, "By topic"))
    assert by_topic["estimatedose"].startswith(
        "3 of the 3 items are in 1 group of duplicates without a decision"
    )
    assert by_topic["estimateother"].startswith("2 of the 4 items are in 1 group of duplicates"), (
        "q3 is alone there"
    )
    [difference] = [text for kind, text in by_topic.items() if kind.startswith("difference")]
    assert difference.startswith("6 of the 7 items are in 2 groups")
    table = folder / "d.csv"
    table.write_text("item,decision\nq4,apart\nq5,apart\n", "utf-8")
    search_duplicates(study, DuplicatesRequest(decisions=table, by="p-1"))
    assert dict(notes(study, "By topic"))["estimateother"] == ""


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_methods_state_the_recall_where_items_are_screened_for_identifiers(
    folder: Path, language: str
) -> None:
    study = simulated(folder, language)
    screen_items(study)
    simulate(study, truth_of(study))
    assert "70/120" not in " ".join(study.results().methods), (
        "these rules do not look for identifiers"
    )
    protocol = folder / "study.toml"
    protocol.write_text(
        protocol.read_text("utf-8").replace('["follow-up"]', '["identifier"]'), "utf-8"
    )
    page = open_folder(folder).report().read_text("utf-8")
    share = (
        f"58% ({RECALL.k}/{RECALL.n}; 95% CI, 49% to 67%)"
        if language == "en"
        else f"({RECALL.k}/{RECALL.n}; 95-%-KI"
    )
    assert page.count(share) == 1


def test_what_the_screening_left_out_is_not_left_out_as_a_duplicate(folder: Path) -> None:
    study = open_folder(folder)
    before = search_duplicates(study)
    assert (before.out, before.excluded) == ([], [])
    decisions = folder / "d.csv"
    decisions.write_text("item,decision\nq4,follow-up\nq1,keep\n", "utf-8")
    screen_items(study, ScreeningRequest(decisions=decisions, by="p-1"))
    after = search_duplicates(study)
    assert (after.out, after.excluded) == ([], ["q4"])
    lines = list(lines_of(after))
    assert "  excluded as duplicates: 0" in lines and "  excluded for another reason: 1" in lines
    assert lines[-1] == "4 items in 1 groups still count as independent"


def test_what_cannot_be_decided_changes_nothing(folder: Path) -> None:
    study, table = open_folder(folder), folder / "d.csv"
    screen_items(study)
    table.write_text("item,decision\nq3,dupe\n", "utf-8")
    with pytest.raises(
        SourceError, match="item 'q3': the decision 'dupe' is not one of 'duplicate', 'apart'"
    ):
        search_duplicates(study, DuplicatesRequest(decisions=table, by="p-1"))
    (folder / "study.toml").write_text(STUDY.partition("[prepare.screen]")[0], "utf-8")
    with pytest.raises(StudyError, match=r"there is no \[prepare.screen\]"):
        search_duplicates(open_folder(folder), DuplicatesRequest(leave_one=True, by="p-1"))
    with study.store() as store:
        assert {event.kind for event in store.events()} == {"screening"}


UNSEARCHED = (
    "5 items repeat the text of another item (2 groups) but count as independent; run 'konsil"
    " duplicates'"
)


def test_equal_texts_are_stated_until_somebody_searches(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "study.toml").write_text(STUDY + PLAN, "utf-8")
    for command in ("status", "screen", "prepare", "status"):
        main([command, str(folder)])
        assert [line.strip() for line in capsys.readouterr().out.splitlines()].count(
            UNSEARCHED
        ) == 1, command
    main(["plan", str(folder), "--dry-run"])
    assert f"\n  {UNSEARCHED}\n" in capsys.readouterr().out
    main(["duplicates", str(folder)])
    for command in ("status", "screen", "prepare", "plan"):
        main([command, str(folder)])
        assert "text of another" not in capsys.readouterr().out, command


def test_only_items_that_are_rated_count_as_equal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = folder / "given.csv"
    table.write_text("item,decision\nq5,unclear\nq1,unclear\nq2,unclear\n", "utf-8")
    main(["screen", str(folder), "--decisions", str(table), "--by", "p-7"])
    assert "text of another" not in capsys.readouterr().out


def test_one_group_and_items_without_text(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "items.csv").write_text("item,text\na,Which dose?\nb,which dose\nc,\nd,\n", "utf-8")
    (folder / "konsil.db").unlink()
    main(["import", str(folder)])
    main(["status", str(folder)])
    assert (
        "  2 items repeat the text of another item (1 group) but count" in capsys.readouterr().out
    )
