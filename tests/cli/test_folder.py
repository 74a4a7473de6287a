"""A study's folder from `konsil new` to a report and an export that reads back equal; wrong calls
in one sentence."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import konsil
from konsil.analysis import known_statistics
from konsil.cli.folder import StudyFolder
from konsil.cli.main import COMMANDS
from konsil.errors import KonsilError

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def study(call: Call, tmp_path: Path) -> Path:
    """A new folder with few resamples."""
    folder = tmp_path / "my study"
    assert call("new", folder)[0] == 0
    protocol = folder / "study.toml"
    protocol.write_text(protocol.read_text().replace("draws = 10000", "draws = 200  "))
    return folder


@pytest.fixture
def refused(call: Call) -> Callable[..., str]:
    def run(*arguments: object) -> str:
        code, out, err = call(*arguments)
        assert (code, out) == (2, ""), (out, err)
        assert err.startswith("konsil: ")
        assert err.count("\n") == 1, err
        return err.removeprefix("konsil: ").strip()

    return run


def edit(folder: Path, old: str, new: str, file: str = "study.toml") -> None:
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def records(folder: Path) -> tuple[object, ...]:
    with konsil.open(folder).store() as store:
        held = store.batch()
    return tuple(
        frozenset(map(repr, part))
        for part in (held.items, held.answers, held.raters, held.tasks, held.ratings)
    )


def test_study_toml_stands_for_its_folder(call: Call, study: Path) -> None:
    by_folder, by_file = call("check", study), call("check", study / "study.toml")
    assert by_file == by_folder
    assert by_file[0] == 0
    assert konsil.open(study / "study.toml").path == study


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"new", "demo", "restore"}))
def test_every_command_on_a_study_takes_its_study_toml(name: str) -> None:
    command = importlib.import_module(COMMANDS[name][0]).command
    each = command.commands.values() if isinstance(command, click.Group) else [command]
    folders = [p.type for c in each for p in c.params if p.name == "folder"]
    assert all(isinstance(kind, StudyFolder) for kind in folders)


def test_values_without_labels_name_the_labels(call: Call, study: Path) -> None:
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(
        re.sub(r"scale = \{[^}]*\}", "scale = { values = [1, 2.5] }", text, count=1)
    )
    code, _, err = call("check", study)
    assert code == 2
    assert 'there are no labels; expected labels = ["1", "2.5"] beside them' in err
    assert "values for 0 labels" not in err


def test_another_file_is_no_study(refused: Callable[..., str], study: Path) -> None:
    assert "no such folder" in refused("check", study / "items.csv")


# ---------------------------------------------------------------- the whole way


def test_from_new_to_a_report(call: Call, study: Path) -> None:
    assert "correctness" in call("check", study)[1]
    assert call("import", study)[1].startswith("new: 3 items")
    assert call("import", study)[1].startswith("new: nothing; ")
    assert "ratings" in call("status", study)[1]
    code, out, err = call("report", study)
    assert (code, err) == (0, "")
    page = Path(out.strip())
    assert page == study / "report" / "index.html"
    assert "A study of my own" in page.read_text(encoding="utf-8")
    estimates = json.loads((study / "report" / "estimates.json").read_text())
    assert estimates
    code, out, err = call("verify-log", study)
    head = re.fullmatch(
        r"audit log verified: chain and records intact\nhead: (\d+-[0-9a-f]{64})\n", out
    )
    assert (code, err) == (0, "")
    assert head is not None
    assert call("verify-log", study, "--expect", head[1])[0] == 0
    code, out, err = call("verify-log", study, "--expect", "1-" + "a" * 64)
    assert (code, out) == (2, "")
    assert "the log was rewritten, or the database is an older copy" in err
    assert call("verify-log", study, "--expect", "abc")[2].startswith(
        "konsil: --expect 'abc': expected a head"
    )
    code, out, _ = call("log", study)
    assert code == 0
    assert len(out.splitlines()) == int(head[1].split("-")[0])
    assert call("log", study, "--output", study / "log.csv")[0] == 0
    assert (study / "log.csv").read_text("utf-8").count(head[1].split("-")[1]) == 1
    assert (study / "log.csv").stat().st_mode & 0o777 == 0o600
    assert call("log", study, "--last", "1", "--output", study / "log.jsonl")[0] == 0
    assert len((study / "log.jsonl").read_text("utf-8").splitlines()) == 1
    assert call("log", study, "--output", study / "log.txt")[0] == 2


@pytest.mark.slow
def test_a_report_imports_what_was_never_imported(call: Call, study: Path) -> None:
    assert call("report", study)[0] == 0
    assert call("import", study)[1].startswith("new: nothing; ")


def test_the_numbers_as_files_alone(call: Call, study: Path, tmp_path: Path) -> None:
    call("import", study)
    code, out, _ = call("analyse", study, "--output", tmp_path / "numbers")
    assert code == 0
    assert "estimates" in out
    assert (tmp_path / "numbers" / "estimates.csv").is_file()


@pytest.mark.parametrize("form", ["csv", "jsonl", pytest.param("parquet", marks=pytest.mark.slow)])
def test_an_export_is_read_back_equal(call: Call, study: Path, tmp_path: Path, form: str) -> None:
    call("import", study)
    assert call("export", study, tmp_path / "out", "--format", form)[0] == 0
    other = tmp_path / "other"
    call("new", other)
    (other / "study.toml").write_text((study / "study.toml").read_text())
    assert call("import", other, "--export", tmp_path / "out")[0] == 0
    assert records(other) == records(study)
    assert call("import", other, "--export", tmp_path / "out")[1].startswith("new: nothing; ")


def test_a_release_names_no_rater(call: Call, study: Path, tmp_path: Path) -> None:
    call("import", study)
    assert call("export", study, tmp_path / "out", "--release")[0] == 0
    files = [p for p in (tmp_path / "out").rglob("*") if p.is_file()]
    assert files
    assert not any(b"physician-1" in p.read_bytes() for p in files)


def test_a_file_with_flags_is_the_protocols_source(call: Call, study: Path, tmp_path: Path) -> None:
    call("import", study)
    other = tmp_path / "other"
    call("new", other)
    text = (study / "study.toml").read_text()
    (other / "study.toml").write_text(text)
    ratings = (study / "ratings.csv").read_text().replace("rater,item,system", "Wer,item,system")
    (tmp_path / "r.csv").write_text(ratings)
    code = call(
        "import",
        other,
        "--file",
        other / "items.csv",
        "--records",
        "items",
        "--stratum",
        "specialty",
    )[0]
    assert code == 0
    assert call("import", other, "--file", tmp_path / "r.csv", "--column", "rater=Wer")[0] == 0
    assert records(other) == records(study)


def test_a_tampered_log_is_found(call: Call, study: Path) -> None:
    import sqlite3

    call("import", study)
    database = sqlite3.connect(study / "konsil.db")
    tables = [r[0] for r in database.execute("select name from sqlite_master where type = 'table'")]
    assert any("audit" in t or "log" in t for t in tables)
    triggers = [
        r[0] for r in database.execute("select name from sqlite_master where type = 'trigger'")
    ]
    for trigger in triggers:
        database.execute(f'drop trigger "{trigger}"')
    database.execute("update ratings set label = 'Correct' where label = 'Incorrect'")
    database.commit()
    database.close()
    code, out, err = call("verify-log", study)
    assert (code, out) == (2, "")
    assert err.startswith("konsil: ")


# ---------------------------------------------------------------- wrong calls and wrong studies


def test_a_folder_that_is_not_there(refused: Callable[..., str], tmp_path: Path) -> None:
    for verb in ("check", "import", "status", "report", "verify-log", "analyse"):
        assert (
            refused(verb, tmp_path / "nowhere")
            == f"{tmp_path / 'nowhere'}: there is no such folder"
        )
    assert "there is no study.toml in this folder" in refused("check", tmp_path)


def test_a_study_that_was_never_imported(refused: Callable[..., str], study: Path) -> None:
    for verb in ("status", "verify-log", "analyse"):
        assert "import something first" in refused(verb, study)


def test_new_leaves_what_is_there_alone(refused: Callable[..., str], study: Path) -> None:
    before = (study / "study.toml").read_text()
    assert "exists and is not empty; choose a new folder" in refused("new", study)
    assert (study / "study.toml").read_text() == before
    assert "did you mean 'starter'?" in refused("new", study.parent / "b", "--protocol", "startr")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("seed = 2026", "sede = 2026", "sede: unknown key; did you mean 'seed'?"),
        ("seed = 2026", 'seed = "2026"', "seed: expected a whole number, got '2026'"),
        ("schema = 1", "schema = 99", "schema: this study has schema 99"),
        (
            "codebook.en.md",
            "codebook.de.md",
            "the file 'codebook.de.md' does not exist in the study's folder",
        ),
        ('id = "physician-2"', 'id = "physician-1"', "the identifier 'physician-1' occurs twice"),
        ('statistic = "cohen_kappa"', 'statistic = "kohen_kappa"', "did you mean 'cohen_kappa'?"),
        ("[resampling]", "[resampling", "not valid TOML"),
    ],
)
def test_a_wrong_protocol(
    refused: Callable[..., str], study: Path, old: str, new: str, says: str
) -> None:
    edit(study, old, new)
    for verb in ("check", "import", "report"):
        said = refused(verb, study)
        assert said.startswith(str(study / "study.toml"))
        assert says in said


def test_a_protocol_that_is_not_utf8(refused: Callable[..., str], study: Path) -> None:
    (study / "study.toml").write_bytes('title = "Ärzte"\nseed = 1\n'.encode("cp1252"))
    assert refused("check", study) == f"{study / 'study.toml'}: is not UTF-8 text; save it as UTF-8"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "correct,Incorrect",
            "correct,Incorect",
            "line 6: 'Incorect' is not a label of criterion 'correct'",
        ),
        (
            "physician-2,q1,system-1",
            "physician-9,q1,system-1",
            "line 3: there is no rater 'physician-9'",
        ),
        ("physician-2,q1,system-1", "physician-2,q9,system-1", "line 3: there is no item 'q9'"),
        (
            "physician-2,q1,system-1",
            "physician-2,q1,system-9",
            "line 3: there is no system 'system-9'",
        ),
        (
            "physician-2,q1,system-1",
            "physician-2,q1,",
            "line 3: criterion 'correct' is about answer",
        ),
        (
            "q1,system-1,correct,Correct",
            "q1,system-1,corect,Correct",
            "line 2: there is no criterion 'corect'",
        ),
        (
            "physician-2,q1,system-1,correct,Correct",
            "physician-1,q1,system-1,correct,Incorrect",
            (
                "rater 'physician-1' rates 'q1:system-1' on 'correct' as 'Incorrect' here and as"
                " 'Correct' on line 2"
            ),
        ),
    ],
)
def test_a_bad_row_imports_nothing(
    call: Call, refused: Callable[..., str], study: Path, old: str, new: str, says: str
) -> None:
    edit(study, old, new, "ratings.csv")
    said = refused("import", study)
    assert said.startswith("ratings.csv: 1 ")
    assert "nothing was imported" in said
    assert says in said
    edit(study, new, old, "ratings.csv")
    assert call("import", study)[1].startswith("new: 3 items")


def test_a_rating_that_contradicts_a_stored_one(
    call: Call, refused: Callable[..., str], study: Path
) -> None:
    call("import", study)
    before = records(study)
    edit(
        study,
        "physician-2,q1,system-1,correct,Correct",
        "physician-2,q1,system-1,correct,Incorrect",
        "ratings.csv",
    )
    said = refused("import", study)
    assert "physician-2" in said
    assert records(study) == before


def test_a_file_that_is_missing(refused: Callable[..., str], study: Path) -> None:
    (study / "ratings.csv").unlink()
    assert "ratings.csv" in refused("import", study)
    assert "ritems.csv: there is no such file; did you mean 'items.csv'?" in refused(
        "import", study, "--file", study / "ritems.csv"
    )


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--column", "rater"), "--column 'rater': expected two parts with '=' between them"),
        (("--column", "ratr=rater"), "have no field 'ratr'; did you mean 'rater'?"),
        (("--column", "rater=Rater Name"), "there is no column 'Rater Name'"),
        (("--records", "rating"), "'rating' is not one of"),
        (("--fild", "x"), "--fild"),
    ],
)
def test_wrong_flags(
    refused: Callable[..., str], study: Path, flags: tuple[str, ...], says: str
) -> None:
    assert says in refused("import", study, "--file", study / "ratings.csv", *flags)


def test_a_changed_protocol_is_said(call: Call, study: Path) -> None:
    call("import", study)
    assert "has changed" not in call("status", study)[1]
    edit(study, "seed = 2026", "seed = 2027")
    assert "the protocol has changed since the last import" in call("status", study)[1]


def test_a_database_of_another_place(
    call: Call,
    refused: Callable[..., str],
    study: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    assert call("import", study, "--database", url)[0] == 0
    assert not (study / "konsil.db").exists()
    assert call("status", study, "--database", url)[0] == 0
    assert "import something first" in refused("status", study)
    refused("status", study, "--database", "nonsense")
    monkeypatch.setenv("KONSIL_DATABASE", url)
    assert call("status", study)[0] == 0


# ---------------------------------------------------------------- from Python


@pytest.mark.slow
def test_the_same_from_python(study: Path) -> None:
    opened = konsil.open(study)
    assert opened.study.title == "A study of my own"
    added = opened.import_sources()
    assert added.new["ratings"] == 18
    assert not any(opened.import_sources().new.values())
    assert opened.ratings().height == 18
    assert {r.analysis for r in opened.results().rows} == {a.name for a in opened.study.analyses}
    assert opened.report().is_file()
    with pytest.raises(KonsilError, match="there is no such folder"):
        konsil.open(study / "nowhere")


def test_ratings_are_no_surprise_when_the_protocol_asks_for_none(study: Path) -> None:
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text[: text.index("# WHICH numbers")])
    opened = konsil.open(study)
    opened.import_sources()
    assert opened.results().rows == ()
    assert opened.report().is_file()


def test_every_statistic_is_listed_with_its_title(call: Call, study: Path) -> None:
    code, out, err = call("check", study, "--statistics")
    assert (code, err) == (0, "")
    rows = [line.split("  ", 1) for line in out.splitlines()]
    assert len(rows) == len(known_statistics())
    assert all(len(row) == 2 and row[1].strip() for row in rows)


# ---------------------------------------------------------------- an analysis of a column that
# nobody has

COLOUR = """
[[analyses]]
name = "by colour"
statistic = "share"
criterion = "correct"
raters = "physicians"
of = ["Correct"]
by = ["colour"]
"""


@pytest.mark.slow
def test_an_analysis_of_a_column_that_nobody_has_stops_no_other(
    call: Call, study: Path, tmp_path: Path
) -> None:
    protocol = study / "study.toml"
    whole = protocol.read_text()
    assert call("check", study)[0] == 0
    call("import", study)
    before = {r.analysis for r in konsil.open(study).results().rows}
    protocol.write_text(whole + COLOUR)
    code, out, err = call("analyse", study, "--output", tmp_path / "numbers")
    assert (code, "estimates" in out) == (2, True)
    assert err.startswith("konsil: by colour: ratings have no column 'colour'; ")
    told = json.loads((tmp_path / "numbers" / "estimates.json").read_text())
    assert "ratings have no column 'colour'" in json.dumps(told)
    results = konsil.open(study).results()
    assert {r.analysis for r in results.rows} == {*before, "by colour"}
    code, out, err = call("report", study)
    assert (code, out) == (2, f"{study / 'report' / 'index.html'}\n")
    assert err.startswith("konsil: by colour: ratings have no column 'colour'; ")
    assert "Ratings have no column" in (study / "report" / "index.html").read_text("utf-8")


@pytest.mark.slow
def test_check_names_the_key_once_the_items_are_there(call: Call, study: Path) -> None:
    protocol = study / "study.toml"
    protocol.write_text(protocol.read_text() + COLOUR.replace('"colour"', '"sytem"'))
    for _ in range(2):
        code, _, err = call("check", study)
        assert code == 2
        assert err.startswith(f"konsil: {protocol}:101:7: analysis 'by colour', by: ")
        assert err.endswith(": ratings will have no column 'sytem'; did you mean 'system'?\n")
        call("import", study)
    protocol.write_text(
        protocol.read_text().replace('by = ["sytem"]', 'where = { speciality = ["x"] }')
    )
    assert "where.speciality: ratings will have no column 'speciality'" in call("check", study)[2]


def test_an_import_tells_a_column_that_is_nearly_a_field(call: Call, study: Path) -> None:
    edit(study, "reference", "Referense", "items.csv")
    code, out, _ = call("import", study)
    assert code == 0
    assert "note: items.csv: the column 'Referense' is not read; did you mean 'reference'?" in out


@pytest.mark.parametrize(
    "option", [("--k", "5"), ("--unlink",), ("--linked",), ("--order",), ("--notes",)]
)
def test_an_option_of_a_release_alone_is_refused(
    refused: Callable[..., str], call: Call, study: Path, tmp_path: Path, option: tuple[str, ...]
) -> None:
    """Whoever left out a word would have published the identifiers of all raters."""
    assert call("import", study)[0] == 0
    assert (
        refused("export", study, tmp_path / "out", *option)
        == f"{option[0]}: is for a release; add --release"
    )
    assert not (tmp_path / "out").exists()


def test_an_analysis_of_one_system_of_a_blinded_study_is_pointed_out(
    call: Call, study: Path
) -> None:
    edit(study, 'title = "', 'blinded = true\ntitle = "')
    protocol = study / "study.toml"
    extra = (
        '\n[[analyses]]\nname = "one"\nstatistic = "percent_agreement"\ncriterion = "correct"\n'
        'raters = "physicians"\nwhere = { system = ["system-1"] }\nprespecified = false\n'
    )
    assert "concerns" not in call("check", study)[1]
    protocol.write_text(protocol.read_text("utf-8") + extra, "utf-8")
    code, out, err = call("check", study)
    assert (code, err) == (0, "")
    assert "analysis 'one' concerns 'system-1' only: anyone with study.toml" in out


def test_an_unclear_table_is_answered_with_the_whole_command(
    study: Path, call: Call, refused: Callable[..., str]
) -> None:
    table = study / "wide.csv"
    rows = [f"q{n},system-1,{'yes' if n % 3 else 'no'},yes,no" for n in range(1, 13)]
    table.write_text("\n".join(["Question,system,Dr A,Dr B,Dr C", *rows]) + "\n")
    code, _, sentence = call("import", study, "--file", table)
    assert code == 2
    assert f"konsil import '{study}' --file '{table}'" in sentence
    assert "--column item=Question" in sentence
    assert "--rater 'Dr A=...'" in sentence
    table.write_text("alpha,beta\n1,z\n")
    assert "--rater COLUMN=RATER" in refused("import", study, "--file", table)
    table.write_text(
        "item,system,rater,criterion,label\nq1,system-1,r1,correct,yes\nq1,system-1,r1,correct,no\n"
    )
    assert "with --file" not in refused("import", study, "--file", table)


def test_check_states_that_a_language_is_a_draft(call: Call, study: Path) -> None:
    protocol = study / "study.toml"
    for language, is_draft in (("de", False), ("fr", True)):
        text = re.sub(r"(?m)^language = .*\n", "", protocol.read_text("utf-8"))
        protocol.write_text(f'language = "{language}"\n' + text, "utf-8")
        code, out, _ = call("check", study)
        assert code == 0
        assert (
            "is a draft for the pages; the report and the codebook are in English" in out
        ) == is_draft


def test_check_lists_composite_scores(call: Call, study: Path) -> None:
    protocol = study / "study.toml"
    before = call("check", study)[1]
    assert "scores:" not in before
    again = """
[[instruments]]
id = "rubric"
[[instruments.criteria]]
id = "depth"
question = "How deep?"
scale = { labels = ["0", "1"] }
[[instruments.criteria]]
id = "style"
question = "How clear?"
scale = { labels = ["0", "1"] }
[[scores]]
id = "overall"
of = ["depth", "style"]
"""
    protocol.write_text(protocol.read_text("utf-8") + again, "utf-8")
    code, out, _ = call("check", study)
    assert code == 0
    assert "  scores:      overall (mean of 2)" in out.splitlines()
    protocol.write_text(protocol.read_text("utf-8").replace('"style"]', '"stile"]'), "utf-8")
    code, _, err = call("check", study)
    assert code == 2
    assert "scores 'overall', of: there is no criterion 'stile'; did you mean 'style'?" in err
