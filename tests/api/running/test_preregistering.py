"""A preregistration text states what the protocol knows, marks the rest and never replaces a file."""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path

import docx
import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.running.power_files import power_lines
from konsil.api.running.preregistering import write_preregistration
from konsil.cli.main import group
from konsil.errors import KonsilError
from konsil.study.data.freezing import frozen, power_sentences, sentences

PROTOCOL = """schema = 1
title = "Which system is right?"
seed = 7
{head}
systems = [{{ id = "alpha-canary" }}, {{ id = "beta-canary" }}]
raters = [{{ id = "r1", panel = "experts" }}, {{ id = "r2", panel = "experts" }}]
[[instruments]]
id = "form"
codebook = "Read it.\\nThen rate."
criteria = [{{ id = "correct", question = "Is it correct?", scale = {{ labels = ["no", "yes"] }} }}]
[[plan]]
panel = "experts"
instrument = "form"
show = "each"
raters_per_item = 2
[[analyses]]
name = "accuracy"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "experts"
by = ["system"]
compare = "system"
margin = 0.1
question = "Is one system more often correct?"
[[analyses]]
name = "late idea"
statistic = "percent_agreement"
criterion = "correct"
raters = "experts"
prespecified = false
[exclusions]
min_seconds = 12
"""
MARK = "[to be written by the authors]"
HEADINGS = {
    "Study information": ["Title", "Authors", "Description", "Research questions and hypotheses"],
    "Design plan": ["Study type", "Blinding", "Study design", "Randomisation"],
    "Sampling plan": [
        "Existing data",
        "Data collection procedures",
        "Sample size",
        "Sample size rationale",
        "Stopping rule",
    ],
    "Variables": ["Manipulated variables", "Measured variables", "Indices"],
    "Analysis plan": [
        "Statistical models",
        "Estimands",
        "Transformations",
        "Inference criteria",
        "Data exclusion",
        "Missing data",
        "Exploratory analyses",
    ],
    "Other": ["Protocol and checksums", "Further information"],
}


def study(tmp_path: Path, head: str = "") -> Path:
    folder = tmp_path / "study"
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(PROTOCOL.format(head=head), "utf-8")
    return folder


def parts(text: str) -> dict[str, str]:
    """Heading of an item -> what stands below it."""
    pieces = re.split(r"^### (.*)$", text, flags=re.MULTILINE)
    return {
        heading: re.split(r"^## ", below, flags=re.MULTILINE)[0].strip()
        for heading, below in zip(pieces[1::2], pieces[2::2], strict=True)
    }


def preview(folder: Path, name: str = "p.md", power: Path | None = None) -> str:
    file = folder.parent / name
    lines = () if power is None else power_lines(power)
    write_preregistration(open_folder(folder), [file], lines)
    return file.read_text("utf-8")


def konsil(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(group, [*words])
    return done.exit_code, done.output + str(done.exception or "")


def test_headings_are_those_of_the_form_in_its_order(tmp_path: Path) -> None:
    text = preview(study(tmp_path))
    found: dict[str, list[str]] = {}
    for hashes, heading in re.findall(r"^(##|###) (.*)$", text, flags=re.MULTILINE):
        if hashes == "##":
            found[heading] = []
        else:
            found[list(found)[-1]].append(heading)
    assert found == HEADINGS


def test_the_text_follows_the_protocol_and_marks_the_rest(tmp_path: Path) -> None:
    shown = parts(preview(study(tmp_path)))
    assert shown["Title"] == "Which system is right?"
    assert shown["Authors"] == shown["Description"] == shown["Stopping rule"] == MARK
    assert shown["Sample size rationale"] == MARK
    assert "Is one system more often correct?" in shown["Research questions and hypotheses"]
    assert shown["Research questions and hypotheses"].endswith(
        f"Hypotheses with their direction: {MARK}"
    )
    assert "each answer on a page of its own" in shown["Study design"]
    assert "Each item is assigned to 2 raters of experts at random." in shown["Study design"]
    assert "from the seed 7" in shown["Randomisation"]
    assert shown["Existing data"] == "Ratings stored so far: 0."
    assert "experts: 2 raters" in shown["Sample size"]
    assert shown["Manipulated variables"] == "Systems: alpha-canary, beta-canary."
    assert "Is it correct? (no, yes)" in shown["Measured variables"]
    assert "rated by the panel experts" in shown["Statistical models"]
    assert "Equivalence margin: ±10 percentage points." in shown["Statistical models"]
    assert 'of = ["yes"]' in shown["Statistical models"]
    assert (
        "late idea" in shown["Exploratory analyses"]
        and "late idea" not in shown["Statistical models"]
    )
    assert "less than 12 seconds" in shown["Data exclusion"]
    assert "95%" in shown["Inference criteria"] and "Holm" in shown["Inference criteria"]
    described = parts(preview(study(tmp_path, 'description = "Two systems."'), "q.md"))
    assert described["Description"] == "Two systems."


def test_interim_looks_are_the_stopping_rule(tmp_path: Path) -> None:
    folder = study(tmp_path)
    file = folder / "study.toml"
    looks = """
[interim]
panel = "experts"
analysis = "accuracy"
unblinded = "dmc-1"
[[interim.looks]]
fraction = 0.25
[[interim.looks]]
fraction = 0.5
kind = "comparative"
futility = 0.3
[[interim.rules]]
measure = "agreement"
criterion = "correct"
action = "retrain"
below = 0.4
"""
    file.write_text(file.read_text("utf-8") + looks, "utf-8")
    rule = parts(preview(folder))["Stopping rule"]
    assert "pool all systems are made at 25% of the ratings" in rule
    assert "At 50% of the ratings, dmc-1 alone looks" in rule
    assert "|z| reaches 2.963 and 1.969" in rule
    assert "“retrain” if agreement (value) of correct is \\< 0.4." in rule


def test_the_text_says_whether_the_plan_is_frozen_and_whether_it_changed(tmp_path: Path) -> None:
    folder = study(tmp_path)
    assert "> **Preview: the analysis plan is not frozen" in preview(folder)
    made = [tmp_path / "frozen.md", tmp_path / "frozen.docx"]
    options = [word for file in made for word in ("--preregistration", str(file))]
    code, output = konsil("freeze", str(folder), "--by", "lead", *options)
    assert code == 0 and all(str(file) in output for file in made)
    text = made[0].read_text("utf-8")
    assert "Preview" not in text
    shown = parts(text)
    plan = re.search(r"checksum (?:\(SHA-256\) )?([0-9a-f]+)", output)
    assert plan is not None and plan[1] in shown["Protocol and checksums"]
    assert re.search(r"was frozen at \d{4}-\d\d-\d\dT", shown["Protocol and checksums"])
    assert shown["Existing data"] == "Ratings stored when the analysis plan was frozen: 0."
    word = docx.Document(io.BytesIO(made[1].read_bytes()))
    paragraphs = [p.text for p in word.paragraphs]
    for heading, items in HEADINGS.items():
        assert heading in paragraphs and set(items) <= set(paragraphs)
    changed = "The protocol changed after the freeze"
    assert changed not in text
    protocol = folder / "study.toml"
    protocol.write_text(protocol.read_text("utf-8").replace("margin = 0.1", "margin = 0.2"))
    assert changed in preview(folder, "later.md")


def test_a_power_calculation_is_the_reason_for_the_sample_size(tmp_path: Path) -> None:
    rows = [
        {"analysis": "accuracy", "group": {"system": "a"}, "versus": {"system": "b"}}
        | {"prespecified": True, "studies": 200, "width": 0.1234, "power": 0.85},
        {"analysis": "late idea", "group": {}, "versus": {}}
        | {"prespecified": False, "studies": 200, "width": 0.2, "power": None},
    ]
    file = tmp_path / "power.json"
    file.write_text(json.dumps(rows))
    reason = parts(preview(study(tmp_path), power=file))["Sample size rationale"]
    assert reason == (
        "accuracy (a − b), in 200 simulated studies: power 0.85, mean width of the CI 0.123."
    )
    file.write_text("accuracy,0.85")
    with pytest.raises(KonsilError, match=r"is no power calculation; expected a file made by"):
        power_lines(file)
    hostile = ["[" * 100_000, '[{"prespecified": true, "studies": "many"}]', '{"a": 1}', "[1]"]
    strange = rows[0] | {"width": [1]}
    for content in (*hostile, json.dumps([strange]), json.dumps([rows[0] | {"studies": 1e999}])):
        file.write_text(content)
        with pytest.raises(KonsilError, match="is no power calculation"):
            power_lines(file)
    with file.open("wb") as sparse:
        sparse.truncate(1 << 25)
    with pytest.raises(KonsilError, match="is larger than"):
        power_lines(file)
    with pytest.raises(KonsilError, match=r"cannot be read"):
        power_lines(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("p.pdf", "ends in '.pdf'; expected a file that ends in .md or .docx"),
        ("nowhere/p.md", "there is no folder"),
        ("there.md", "exists already and may have been edited"),
    ],
)
def test_what_cannot_be_written_stops_before_the_freeze(
    tmp_path: Path, name: str, says: str
) -> None:
    folder = study(tmp_path)
    (tmp_path / "there.md").write_text("our own words")
    words = ("freeze", str(folder), "--preregistration", str(tmp_path / name))
    for how in (("--by", "lead"), ("--preview",)):
        code, output = konsil(*words, *how)
        assert code != 0 and says in output
    assert (tmp_path / "there.md").read_text() == "our own words"
    assert konsil("freeze", str(folder), "--by", "lead")[0] == 0, "nothing was frozen before"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "Missing option '--by'"),
        (("--preview",), "--preview: needs --preregistration FILE"),
        (("--by", "x", "--power", "p.json"), "--power: needs --preregistration FILE"),
        (("--by", "x", "--preview", "--preregistration", "p.md"), "leave one of them out"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    code, output = konsil("freeze", str(study(tmp_path)), *options)
    assert code == 2 and says in output


def test_names_are_withheld_while_systems_are_blinded(tmp_path: Path) -> None:
    text = preview(study(tmp_path, "blinded = true"))
    assert "canary" not in text
    assert parts(text)["Manipulated variables"] == "Systems: K, L."
    assert "this document contains blinding codes" in text
    assert "canary" in preview(study(tmp_path), "open.md")


@pytest.mark.slow
def test_families_are_withheld_while_systems_are_blinded(tmp_path: Path) -> None:
    """Kills: families of judges by name in the restriction of an analysis or in a report's table."""
    folder = study(tmp_path, "blinded = true")
    protocol = folder / "study.toml"
    text = protocol.read_text("utf-8").replace('panel = "experts" }]', 'panel = "experts" }, X]', 1)
    text = text.replace(
        "X]",
        ", ".join(
            f'{{ id = "j{n}", panel = "judges", kind = "llm", family = "{family}" }}'
            for n, family in enumerate(("gpt-canary", "claude-canary"))
        )
        + "]",
    )
    text += """
[[analyses]]
name = "by family"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "judges"
by = ["family"]
compare = "family"
[[analyses]]
name = "of families"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "judges"
where = { family = ["gpt-canary", "claude-canary"] }
[[tables]]
id = "families"
title = "Families"
analyses = ["by family"]
rows = ["criterion"]
columns = ["family"]
difference = ["gpt-canary", "claude-canary"]
[[figures]]
id = "families"
title = "Families"
analyses = ["by family"]
rows = ["family"]
[[sources]]
file = "ratings.csv"
records = "ratings"
fixed = { criterion = "correct" }
"""
    lines = [
        f"q{n},{system},j{judge},{'yes' if (n + judge) % 3 else 'no'}"
        for n in range(6)
        for system in ("alpha-canary", "beta-canary")
        for judge in range(2)
    ]
    (folder / "ratings.csv").write_text("\n".join(["item,system,rater,label", *lines]) + "\n")
    protocol.write_text(text)
    shown = preview(folder)
    assert "canary" not in shown and "Restricted to: family: withheld" in shown
    for step in ("import", "report"):
        code, output = konsil(step, str(folder))
        assert code == 0, output
    files = [file for file in (folder / "report").rglob("*") if file.is_file()]
    assert files and not [file.name for file in files if b"canary" in file.read_bytes()]


def power_file(tmp_path: Path, *changes: dict[str, object]) -> Path:
    """A power calculation of `accuracy` with a row for each change."""
    row = {"analysis": "accuracy", "group": {}, "versus": {}, "prespecified": True}
    row |= {"studies": 200, "undefined": 0, "width": 0.1, "power": 0.85}
    file = tmp_path / "power.json"
    file.write_text(json.dumps([row | change for change in changes]))
    return file


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("system", "canary-a"),
        ("rival", "canary-a"),
        ("systems", "canary-a and canary-b"),
        ("rater", "canary-judge"),
        ("raters", "r1 and canary-judge"),
        ("family", "canary-gpt"),
        ("ensemble", "canary-judge + canary-other"),
        ("their model", "alpha-canary"),
    ],
)
def test_power_by_system_is_summarised_in_a_blinded_study(
    tmp_path: Path, column: str, value: str
) -> None:
    """Kills: names of systems, judges or families in a blinded text or in the event of its freeze;
    a study that can neither be frozen nor be unblinded."""
    folder, file = study(tmp_path, "blinded = true"), tmp_path / "p.md"
    by_name = {"group": {column: value}, "versus": {column: value}}
    power = power_file(
        tmp_path,
        {**by_name, "power": 0.62},
        {"group": {column: value}, "power": None},
        {**by_name, "power": 0.914},
        {"group": {"language": "de"}, "power": 0.5},
    )
    options = ["--power", str(power), "--preregistration"]
    assert konsil("freeze", str(folder), "--preview", *options, str(tmp_path / "q.md"))[0] == 0
    code, output = konsil("freeze", str(folder), "--by", "lead", *options, str(file))
    assert code == 0, output
    texts = [f.read_text("utf-8") for f in (file, tmp_path / "q.md")]
    assert "canary" not in "".join(texts)
    assert parts(texts[0])["Sample size rationale"].split("\n\n") == [
        "accuracy (de), in 200 simulated studies: power 0.50, mean width of the CI 0.100.",
        "By system or judge, withheld while blinded, in 200 simulated studies: 3 estimates, power"
        " 0.62 to 0.91.",
    ]
    with open_folder(folder).store() as store:
        freeze = frozen(store.events())
    assert freeze is not None and "canary" not in json.dumps(freeze.data["power"])
    assert freeze.data["power"] == {
        "file": "power.json",
        "sha256": hashlib.sha256(power.read_bytes()).hexdigest(),
        "studies": 200,
        "lines": [{"analysis": "accuracy", "group": "de", "width": 0.1, "power": 0.5}],
        "withheld": {"estimates": 3, "studies": 200, "low": 0.62, "high": 0.914},
    }
    [sentence] = power_sentences(freeze)
    assert "200 simulated studies, 4 estimates of declared analyses" in str(sentence)
    assert konsil("verify-log", str(folder))[0] == 0
    assert konsil("unblind", str(folder), "--by", "lead", "--reason", "done")[0] == 0
    konsil("freeze", str(folder), "--preview", *options, str(tmp_path / "open.md"))
    assert value in (tmp_path / "open.md").read_text("utf-8")


def test_power_of_one_withheld_estimate_and_of_none_that_is_estimable(tmp_path: Path) -> None:
    folder = study(tmp_path, "blinded = true")
    for n, (power, words) in enumerate([(0.7, "power 0.70"), (None, "not estimable")]):
        file = power_file(tmp_path, {"group": {"system": "alpha-canary"}, "power": power})
        reason = parts(preview(folder, f"{n}.md", file))["Sample size rationale"]
        assert reason.endswith(f"1 estimate, {words}.")


def test_power_by_human_rater_is_stated_in_a_blinded_study(tmp_path: Path) -> None:
    """Kills: people taken for systems."""
    folder = study(tmp_path, "blinded = true")
    power = power_file(
        tmp_path,
        {"group": {"rater": "r1"}},
        {"group": {"raters": "r1 and r2"}},
        {"group": {"raters": "3"}},
    )
    reason = parts(preview(folder, power=power))["Sample size rationale"]
    assert [word for word in ("(r1)", "(r1 and r2)", "(3)") if word in reason] == [
        "(r1)",
        "(r1 and r2)",
        "(3)",
    ]
    assert "withheld" not in reason


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"analysis": "acuracy"},
            "row 2, analysis: there is no prespecified analysis 'acuracy'; did you mean"
            " 'accuracy'?",
        ),
        (
            {"analysis": "late idea"},
            "row 2, analysis: 'late idea' is exploratory in the study, but prespecified in this"
            " file; run 'konsil power' again",
        ),
        (
            {"prespecified": False},
            "row 2, analysis: 'accuracy' is prespecified in the study, but exploratory in this",
        ),
        (
            {"studies": -5},
            "row 2, studies: expected a whole number of 2 or more simulated studies, got -5",
        ),
        ({"studies": 1}, "row 2, studies: expected a whole number of 2 or more"),
        ({"studies": 20.5}, "row 2, studies: expected a whole number of 2 or more"),
        ({"studies": True}, "row 2, studies: expected a whole number of 2 or more"),
        ({"power": 7}, "row 2, power: expected a number from 0 to 1, or null, got 7"),
        ({"power": -0.1}, "row 2, power: expected a number from 0 to 1, or null, got -0.1"),
        ({"power": float("nan")}, "row 2, power: expected a number from 0 to 1, or null, got nan"),
        ({"power": "0.8"}, "row 2, power: expected a number from 0 to 1, or null, got '0.8'"),
        (
            {"width": float("inf")},
            "row 2, width: expected a finite number of 0 or more, or null, got inf",
        ),
        ({"width": float("nan")}, "row 2, width: expected a finite number of 0 or more"),
        ({"width": -0.1}, "row 2, width: expected a finite number of 0 or more"),
        ({"group": {"a": ["b"]}}, "row 2, group: expected an object of columns and their values"),
        ({"prespecified": "yes"}, "row 2, prespecified: expected true or false, got 'yes'"),
    ],
)
def test_a_power_calculation_is_checked_before_anything_is_frozen(
    tmp_path: Path, change: dict[str, object], problem: str
) -> None:
    folder, file = study(tmp_path), tmp_path / "p.md"
    power = power_file(tmp_path, {}, change)
    options = ["--preregistration", str(file), "--power", str(power)]
    for further in (["--by", "lead"], ["--preview"]):
        code, output = konsil("freeze", str(folder), *further, *options)
        assert code != 0 and not file.exists()
        assert f"power.json: is no power calculation: {problem}" in output
        assert "Traceback" not in output
    assert "not frozen" in preview(folder, "q.md")


@pytest.mark.parametrize("content", ["[]", "{}", '[{"analysis": "accuracy"}]', "[null]"])
def test_an_empty_power_calculation_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "power.json"
    file.write_text(content)
    with pytest.raises(KonsilError, match="is no power calculation"):
        power_lines(file, open_folder(study(tmp_path)).study)
    exploratory = power_file(tmp_path, {"analysis": "late idea", "prespecified": False})
    with pytest.raises(KonsilError, match="it has no row of a prespecified analysis"):
        power_lines(exploratory)


def test_a_row_that_no_simulated_study_could_estimate_is_no_mistake(tmp_path: Path) -> None:
    row = {"studies": 0, "undefined": 200, "width": None, "power": None}
    [line] = power_lines(power_file(tmp_path, row))
    assert (line.studies, line.width, line.power) == (0, None, None)


def test_a_power_calculation_is_stored_with_the_freeze_and_named_by_the_report(
    tmp_path: Path,
) -> None:
    folder, power, file = study(tmp_path), tmp_path / "power.json", tmp_path / "p.md"
    rows = [
        {"analysis": "accuracy", "group": {"system": "a"}, "versus": {"system": "b"}}
        | {"prespecified": True, "studies": 1200, "width": 0.125, "power": 0.85},
        {"analysis": "late idea", "group": {}, "versus": {}}
        | {"prespecified": False, "studies": 1200, "width": 0.2, "power": None},
    ]
    power.write_text(json.dumps(rows))
    digest = hashlib.sha256(power.read_bytes()).hexdigest()
    options = ["--by", "lead", "--preregistration", str(file), "--power", str(power)]
    assert konsil("freeze", str(folder), *options)[0] == 0
    with open_folder(folder).store() as store:
        events = store.events()
    freeze = frozen(events)
    assert freeze is not None
    assert freeze.data["power"] == {
        "file": "power.json",
        "sha256": digest,
        "studies": 1200,
        "lines": [{"analysis": "accuracy", "group": "a − b", "width": 0.125, "power": 0.85}],
    }
    [sentence] = power_sentences(freeze)
    assert sentence == (
        "A power calculation was registered with the analysis plan: 1,200 simulated studies, 1"
        f" estimate of declared analyses; file power.json, SHA-256 {digest[:16]}."
    )
    assert sentence in sentences(open_folder(folder).study, events)[1]
    assert konsil("verify-log", str(folder))[0] == 0


def test_a_freeze_without_a_power_calculation_names_none(tmp_path: Path) -> None:
    folder = study(tmp_path)
    assert konsil("freeze", str(folder), "--by", "lead")[0] == 0
    with open_folder(folder).store() as store:
        freeze = frozen(store.events())
    assert freeze is not None and "power" not in freeze.data
    assert power_sentences(freeze) == power_sentences(None) == []


def test_a_disk_that_fills_after_the_freeze_leaves_no_draft_and_says_that_it_is_frozen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, file = study(tmp_path), tmp_path / "p.md"

    def full(self: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "replace", full)
    code, output = konsil("freeze", str(folder), "--by", "lead", "--preregistration", str(file))
    assert code != 0
    assert "the analysis plan was frozen at" in output and "--preview" in output
    assert not list(tmp_path.glob("*.new")) + list(tmp_path.glob(".*.new"))


def test_a_score_is_an_index_and_no_measured_criterion(tmp_path: Path) -> None:
    folder = study(tmp_path)
    protocol = folder / "study.toml"
    text = protocol.read_text("utf-8")
    for name in ("correct", "clear"):
        scale = 'scale = { labels = ["no", "yes"], level = "ordinal", values = [0, 1] }'
        criterion = (
            f'[[instruments.criteria]]\nid = "{name}"\nquestion = "Is it {name}?"\n{scale}\n'
        )
        text = text.replace("[[plan]]", f"{criterion}[[plan]]", 1)
    score = '[[scores]]\nid = "overall"\nof = ["correct", "clear"]\n'
    text = re.sub(r"^criteria = .*\n", "", text, flags=re.MULTILINE)
    protocol.write_text(text.replace("[[plan]]", f"{score}[[plan]]", 1))
    shown = parts(preview(folder))
    assert (
        shown["Measured variables"]
        == "correct: Is it correct? (no, yes); clear: Is it clear? (no, yes)."
    )
    assert shown["Indices"] == "Score overall: mean of correct, clear."
    assert shown["Transformations"] == "Composite scores: see “Indices”."


def test_recoded_and_combined_ratings_of_declared_analyses_are_transformations(
    tmp_path: Path,
) -> None:
    folder = study(tmp_path)
    assert parts(preview(folder))["Transformations"] == MARK
    protocol = folder / "study.toml"
    settings = 'margin = 0.1\nconsensus = "majority"\ncollapse = { unclear = "no" }\n'
    settings += 'labels = ["no", "yes"]'
    text = protocol.read_text("utf-8").replace("margin = 0.1", settings, 1)
    text = text.replace(
        'scale = { labels = ["no", "yes"]', 'scale = { labels = ["no", "unclear", "yes"]'
    )
    protocol.write_text(text)
    assert parts(preview(folder, "q.md"))["Transformations"].split("\n\n") == [
        "accuracy: response categories are recoded (unclear → no).",
        "accuracy: ratings are combined across the panel (majority).",
    ]


def test_a_preview_of_an_open_study_makes_no_database(tmp_path: Path) -> None:
    folder = study(tmp_path)
    preview(folder)
    assert [file.name for file in folder.iterdir()] == ["study.toml"]


def test_the_text_is_in_the_language_of_the_study_and_the_same_every_time(tmp_path: Path) -> None:
    folder = study(tmp_path, 'language = "de"')
    text = preview(folder)
    assert "### Begründung der Fallzahl" in text and "to be written" not in text
    assert "von „correct“, bewertet" in text and "experts: 2 Bewertende" in text
    assert preview(folder, "again.md") == text
    for name in ("a.docx", "b.docx"):
        write_preregistration(open_folder(folder), [tmp_path / name])
    assert (tmp_path / "a.docx").read_bytes() == (tmp_path / "b.docx").read_bytes()
