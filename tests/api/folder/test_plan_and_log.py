"""What the report says of its own evidence: since when the plan stands, whether the log holds, who
saw names."""

from __future__ import annotations

import html
import json
import re
import sqlite3
from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.folder.blinded import freeze, unblind
from konsil.study.data.run_settings import settings_of_results, target_of_plan
from small_studies import exit_code, import_ratings

STUDY = """title = "Late"
seed = 1
[[instruments]]
id = "f"
[[instruments.criteria]]
id = "ok"
question = "Correct?"
scale = { labels = ["no", "yes"] }
[[systems]]
id = "north"
[[systems]]
id = "south"
[[raters]]
id = "r1"
panel = "p"
[[raters]]
id = "r2"
panel = "q"
[[sources]]
file = "r.csv"
records = "ratings"
fixed = { criterion = "ok" }
[resampling]
draws = 100
"""
ANALYSIS = """[[analyses]]
name = "{name}"
statistic = "share"
of = ["yes"]
criterion = "ok"
raters = "{panel}"
by = ["system"]
compare = "system"
"""
FIRST, SECOND = ANALYSIS.format(name="one", panel="p"), ANALYSIS.format(name="two", panel="q")


def make(path: Path, text: str = STUDY + FIRST) -> Path:
    path.mkdir(exist_ok=True)
    (path / "study.toml").write_text(text)
    return path


def rate(folder: Path, rater: str = "r1", at: str = "") -> None:
    rows = [["rater", "item", "system", "label", "at"]]
    rows += [
        [rater, f"q{i:02}", s, "yes" if (i * 7 + n) % 3 else "no", at]
        for i in range(12)
        for n, s in enumerate(("north", "south"))
    ]
    import_ratings(folder, rows)


def page(folder: Path) -> str:
    text = open_folder(folder).report().read_text(encoding="utf-8")
    text = re.sub(r"<(script|style|svg).*?</\1>", " ", text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def records(folder: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads((folder / "report" / "estimates.json").read_text())[
        "rows"
    ]
    return rows


@pytest.mark.slow
def test_a_plan_that_was_never_frozen_is_declared(tmp_path: Path) -> None:
    folder = make(tmp_path / "study", STUDY)
    rate(folder)
    make(folder)  # the analysis is written once the ratings are there
    text = page(folder)
    assert (
        "The protocol specifies 1 analysis and declares 1 of them as its family; the analysis"
        " plan was not frozen and may have been written after data collection began." in text
    )
    assert (
        "The analysis plan was not frozen: 1 analysis is declared in the protocol, which may"
        " have been" in text
    )
    assert "Declared analyses" in text
    for negation in ("These were not prespecified", "no analysis counts as prespecified"):
        text = text.replace(negation, "")
    assert "prespecified" not in text.lower()
    assert {(r["declared"], r["prespecified"]) for r in records(folder)} == {(True, False)}


@pytest.mark.slow
def test_a_freeze_after_the_ratings_is_told_with_their_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make(tmp_path / "study")
    rate(folder)
    assert exit_code("freeze", folder, "--by", "A. Author") == 0
    assert "note: 24 ratings are already stored; the report states this" in capsys.readouterr().out
    rate(folder, "r2")
    text = page(folder)
    assert re.search(
        r"Limitations .*frozen at \S+ \(checksum \w+\), after 24 of 48 ratings\.", text
    )
    assert "1 frozen after the first rating that they use." in text
    assert {r["prespecified"] for r in records(folder)} == {False}


@pytest.mark.slow
def test_each_analysis_is_held_against_the_ratings_that_it_uses(tmp_path: Path) -> None:
    folder = make(tmp_path / "study", STUDY + FIRST + SECOND)
    rate(folder)
    freeze(open_folder(folder), "A. Author")
    rate(folder, "r2", "2099-01-01T00:00:00Z")
    text = page(folder)
    assert (
        "1 frozen before the first rating that they use (prespecified) and 1 frozen after the first"
        in text
    )
    assert {(r["analysis"], r["prespecified"]) for r in records(folder)} == {
        ("one", False),
        ("two", True),
    }
    assert "Declared analyses" in text


def test_a_protocol_without_analyses_has_no_plan_to_freeze(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make(tmp_path / "s", STUDY)
    assert exit_code("freeze", str(folder), "--by", "lead") == 2
    assert (
        "there are no [[analyses]], so there is no analysis plan to freeze"
        in capsys.readouterr().err
    )
    assert not (folder / "konsil.db").exists()


def test_a_freeze_before_any_import_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make(tmp_path / "s")
    assert exit_code("freeze", str(folder), "--by", "lead") == 0
    assert "note: no items are imported yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "section"),
    [
        (("unblind", "--by", "lead", "--reason", "done"), "blinded = true"),
        (("duplicates",), ""),
        (("plan",), '[[plan]]\npanel = "p"\ninstrument = "f"'),
        (("screen",), "[prepare.screen]"),
        (("themes",), "[prepare.themes]"),
        (("mask",), "[prepare.mask]"),
        (("prepare",), "[prepare]\nsample = { size = 1 }"),
    ],
)
def test_a_command_that_needs_items_makes_no_database_where_none_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], section: str
) -> None:
    before, after = (
        (section, "") if "=" in section and not section.startswith("[") else ("", section)
    )
    folder = make(tmp_path / "s", f"{before}\n{STUDY}{FIRST}{after}\n")
    assert exit_code(command[0], str(folder), *command[1:]) == 2
    assert "there is no such database; import something first" in capsys.readouterr().err
    assert not (folder / "konsil.db").exists()


def test_a_freeze_before_the_first_rating_makes_analyses_prespecified(tmp_path: Path) -> None:
    folder = make(tmp_path / "study")
    freeze(open_folder(folder), "A. Author")
    rate(folder, at="2099-01-01T00:00:00Z")
    text = page(folder)
    assert "1 of them prespecified: they were frozen before the first rating that they use." in text
    assert re.search(r"was frozen at \S+ \(checksum \w+\), before the first of 24 ratings\.", text)
    assert "Prespecified analyses" in text
    assert {(r["declared"], r["prespecified"]) for r in records(folder)} == {(True, True)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        ("2001-01-01T00:00:00Z", "after 24 of 24 ratings."),
        ("", "before the import of 24 of 24 ratings, which have no recorded time."),
    ],
)
def test_ratings_that_are_imported_after_the_freeze_go_by_their_own_times(
    tmp_path: Path, at: str, sentence: str
) -> None:
    folder = make(tmp_path / "study")
    freeze(open_folder(folder), "A. Author")
    rate(folder, at=at)
    assert sentence in page(folder)
    assert {r["prespecified"] for r in records(folder)} == {False}


def test_the_timing_survives_an_export_as_far_as_the_data_tell(tmp_path: Path) -> None:
    folder = make(tmp_path / "study")
    freeze(open_folder(folder), "A. Author")
    rate(folder, at="2099-01-01T00:00:00Z")
    exported = open_folder(folder).export(tmp_path / "out", "csv")
    copy = make(tmp_path / "copy")
    open_folder(copy).import_export(exported)
    assert "before the first of 24 ratings." in page(copy)


def test_a_corrected_rating_counts_with_its_first_version(tmp_path: Path) -> None:
    from dataclasses import replace

    folder = make(tmp_path / "study")
    rate(folder)
    freeze(open_folder(folder), "A. Author")
    with open_folder(folder).store() as store:
        rating = store.ratings()[0]
        other = replace(
            rating, label="no" if rating.label == "yes" else "yes", at="2099-01-01T00:00:00Z"
        )
        store.revise([other], at="2099-01-01T00:00:00Z", event_id="later")
    assert "after 24 of 24 ratings." in page(folder)


@pytest.mark.slow
def test_a_whole_log_is_told_with_its_last_hash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make(tmp_path / "study")
    rate(folder)
    text = page(folder)
    with open_folder(folder).store() as store:
        n, last = store.log_head()
    assert f"Audit log verified: {n} entries; chain and records are intact." in text
    assert f"The last hash is {last}." in text
    assert page(folder) == text, "reporting again adds nothing to the log"
    assert exit_code("analyse", folder) == 0
    assert last in capsys.readouterr().out


def loosen(folder: Path, *statements: str) -> None:
    base = sqlite3.connect(folder / "konsil.db")
    for (name,) in base.execute("select name from sqlite_master where type = 'trigger'").fetchall():
        base.execute(f'drop trigger "{name}"')
    for statement in statements:
        assert base.execute(statement).rowcount
    base.commit()
    base.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (
            "update ratings set label = 'yes' where label = 'no'",
            "was changed afterwards, outside konsil",
        ),
        ("delete from events where kind = 'freeze'", "was changed afterwards, outside konsil"),
        (
            "delete from audit_log where seq = (select max(seq) from audit_log)",
            "its tail is missing",
        ),
    ],
)
def test_a_broken_log_is_told_first(
    tmp_path: Path, statement: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make(tmp_path / "study", STUDY.replace("seed = 1", "seed = 1\nblinded = true") + FIRST)
    rate(folder)
    freeze(open_folder(folder), "A. Author")
    loosen(folder, statement)
    text = page(folder)
    first = text[text.index("Limitations") :][:700]
    assert (
        "Verification of the audit log failed, so estimates may be based on altered records:"
        in first
    )
    assert problem in first
    assert text.count("Verification of the audit log failed") == 2, "under the methods as well"
    assert exit_code("analyse", folder) == 0
    out = capsys.readouterr().out
    assert problem in out
    assert "The last hash" not in out


@pytest.mark.slow
@pytest.mark.parametrize(
    "mark", ["simulated = true\nblinded = true", "blinded = false", "simulated = true"]
)
@pytest.mark.parametrize("way", ["results", "data", "export"])
def test_whoever_saw_names_before_the_unblinding_is_told_whatever_the_protocol_says_later(
    tmp_path: Path, mark: str, way: str
) -> None:
    blind = STUDY.replace("seed = 1", "seed = 1\nblinded = true") + FIRST
    folder = make(tmp_path / "study", blind)
    rate(folder)
    make(folder, blind.replace("blinded = true", mark))
    opened = open_folder(folder)
    opened.export(tmp_path / "out", "csv") if way == "export" else getattr(opened, way)()
    make(folder, blind)
    assert "north" not in json.dumps(
        [r.group for r in open_folder(folder).results().rows], default=str
    )
    freeze(open_folder(folder), "A. Author")
    unblind(open_folder(folder), "A. Author", "The plan stands.")
    results = open_folder(folder).results()
    methods = " ".join(results.methods)
    assert "Systems were identified by blinding codes until" not in methods
    assert re.search(r"Systems were already named (in analyses )?at \S+Z", methods)
    assert "The study was unblinded at" in methods
    assert any("already" in w for w in results.warnings)


def test_blinding_that_was_kept_is_told(tmp_path: Path) -> None:
    folder = make(tmp_path / "study", STUDY.replace("seed = 1", "seed = 1\nblinded = true") + FIRST)
    rate(folder)
    open_folder(folder).results()
    freeze(open_folder(folder), "A. Author")
    unblind(open_folder(folder), "A. Author", "The plan stands.")
    assert any(
        text.startswith("Systems were identified by blinding codes until")
        for text in open_folder(folder).results().methods
    )
    with open_folder(folder).store() as store:
        assert [e.kind for e in store.events()] == ["freeze", "unblind"]


def test_asking_whether_systems_are_letters_writes_nothing(tmp_path: Path) -> None:
    from konsil.api.folder.blinded import hides

    folder = make(tmp_path / "study", "simulated = true\nblinded = true\n" + STUDY + FIRST)
    rate(folder)
    opened = open_folder(folder)
    with opened.store() as store:
        assert not hides(opened, store)
        assert store.events() == ()


def test_what_a_report_says_of_its_evidence_is_listed_with_its_tests() -> None:
    root = Path(__file__).parents[3]
    listed = (
        (root / "docs" / "verdicts.md").read_text("utf-8").partition("own evidence")[2].splitlines()
    )
    rows = [
        line.strip("| ").split(" | ")
        for line in listed
        if line.startswith("| ") and not line.startswith("| id")
    ]
    assert [row[0] for row in rows] == [
        "prespecified",
        "letters_until",
        "log_whole",
        "played",
        "renamed",
        "wording",
    ]
    for row in rows:
        path, _, function = row[5].strip("` ").partition("::")
        assert f"def {function}(" in (root / path).read_text("utf-8"), row[0]
        for module in row[4].replace("`", "").split(", "):
            assert (root / "src" / "konsil" / module).is_file(), row[0]


def test_a_freeze_stores_the_target_which_raters_who_join_later_do_not_change(
    tmp_path: Path,
) -> None:
    more = "".join(f'[[raters]]\nid = "r{n}"\npanel = "p"\n' for n in range(3, 6))
    folder = make(tmp_path / "t", STUDY + more + FIRST)
    event = freeze(open_folder(folder), "A. Author")
    assert event.data["target"] == "these"
    # A fifth person in the panel: without the freeze raters would be a sample.
    (folder / "study.toml").write_text(STUDY + more + more.replace('"r', '"s') + FIRST)
    opened = open_folder(folder)
    assert target_of_plan(opened.study).raters == "like these"
    with opened.store() as store:
        settings = settings_of_results(
            opened.study, opened.data(), store.events(), is_blinded=False
        )
    assert settings.frozen_target.raters == "these"
