"""study.toml is read strictly: each kind of mistake gives one sentence with its place and, if any,
the nearest name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from konsil.errors import StudyError
from konsil.study import SCHEMA, Study, parse, study_digest

WHOLE = """
title = "A study"
seed = 7

[[instruments]]
id = "form"
codebook = "codebook.md"

[[instruments.criteria]]
id = "correct"
question = "Is it correct?"
scale = { labels = ["no", "yes"], abstain = "unsure" }

[[systems]]
id = "one"
settings = { temperature = 0.2 }

[[raters]]
id = "ann"
panel = "experts"

[[sources]]
file = "ratings.csv"
records = "ratings"

[[plan]]
panel = "experts"
instrument = "form"

[[analyses]]
name = "kappa"
statistic = "cohen_kappa"
criterion = "correct"
raters = "experts"

[resampling]
draws = 500

[exclusions]
min_seconds = 10
"""


def book(name: str) -> str:
    if name != "codebook.md":
        raise FileNotFoundError(name)
    return "# How to decide"


def read(text: str, read_text: Callable[[str], str] = book) -> Study:
    return parse(text, read_text)


def refused(text: str, read_text: Callable[[str], str] = book) -> str:
    with pytest.raises(StudyError) as caught:
        read(text, read_text)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def test_a_whole_protocol_is_read() -> None:
    study = read(WHOLE)
    assert (study.title, study.seed, study.schema) == ("A study", 7, SCHEMA)
    assert study.instruments[0].codebook == "# How to decide"
    assert study.instruments[0].criteria[0].scale.options() == ("no", "yes", "unsure")
    assert study.systems[0].settings == {"temperature": 0.2}
    assert study.exclusions.min_seconds == 10.0


@pytest.mark.parametrize(
    ("line", "with_it", "sentence"),
    [
        (
            'title = "A study"',
            'titel = "A study"',
            "study.toml: titel: unknown key; did you mean 'title'?",
        ),
        (
            'codebook = "codebook.md"',
            'codebok = "codebook.md"',
            "study.toml: instruments[0].codebok: unknown key; did you mean 'codebook'?",
        ),
        (
            'question = "Is it correct?"',
            'questoin = "Is it correct?"',
            (
                "study.toml: instruments[0].criteria[0].questoin: unknown key; did you mean"
                " 'question'?"
            ),
        ),
        (
            'abstain = "unsure"',
            'abstian = "unsure"',
            (
                "study.toml: instruments[0].criteria[0].scale.abstian: unknown key; did you mean"
                " 'abstain'?"
            ),
        ),
        (
            'panel = "experts"\ninst',
            'panell = "experts"\ninst',
            "study.toml: plan[0].panell: unknown key",
        ),
        (
            "draws = 500",
            "draw = 500",
            "study.toml: resampling.draw: unknown key; did you mean 'draws'?",
        ),
        (
            "min_seconds",
            "min_second",
            "study.toml: exclusions.min_second: unknown key; did you mean 'min_seconds'?",
        ),
    ],
)
def test_an_unknown_key_at_any_depth(line: str, with_it: str, sentence: str) -> None:
    assert refused(WHOLE.replace(line, with_it, 1)).startswith(sentence)


@pytest.mark.parametrize(
    ("line", "with_it", "sentence"),
    [
        ("seed = 7", 'seed = "7"', "study.toml: seed: expected a whole number, got '7'"),
        ("seed = 7", "seed = true", "study.toml: seed: expected a whole number, got True"),
        ("seed = 7", "seed = 7.0", "study.toml: seed: expected a whole number, got 7.0"),
        ('title = "A study"', "title = 3", "study.toml: title: expected a text, got 3"),
        (
            "seed = 7",
            "seed = 7\nsimulated = 1",
            "study.toml: simulated: expected true or false, got 1",
        ),
        (
            "draws = 500",
            "draws = 500\nlevel = true",
            "study.toml: resampling.level: expected a number, got True",
        ),
        (
            "draws = 500",
            "draws = 500\nlevel = nan",
            "study.toml: resampling.level: expected a finite number, got nan",
        ),
        (
            'labels = ["no", "yes"]',
            'labels = ["no", 1]',
            "study.toml: instruments[0].criteria[0].scale.labels[1]: expected a text, got 1",
        ),
        (
            "settings = { temperature = 0.2 }",
            "settings = 3",
            "study.toml: systems[0].settings: expected a table, got 3",
        ),
        (
            'statistic = "cohen_kappa"',
            'statistic = "cohen_kappa"\nby = 1',
            "study.toml: analyses[0].by: expected a list, got 1",
        ),
        (
            'statistic = "cohen_kappa"',
            'statistic = "cohen_kappa"\nabstain = "lable"',
            (
                "study.toml: analyses[0].abstain: 'lable' is not one of 'missing', 'label'; did you"
                " mean 'label'?"
            ),
        ),
        (
            'records = "ratings"',
            'records = "rating"',
            "study.toml: sources[0].records: 'rating' is not one of",
        ),
    ],
)
def test_a_value_of_the_wrong_type(line: str, with_it: str, sentence: str) -> None:
    assert refused(WHOLE.replace(line, with_it, 1)).startswith(sentence)


def test_a_table_where_a_list_of_tables_belongs() -> None:
    text = 'title = "t"\nseed = 1\n[instruments]\nid = "x"\n'
    assert refused(text).startswith(
        "study.toml: instruments: expected [[instruments]] with two brackets"
    )
    assert (
        refused('title = "t"\nseed = 1\ninstruments = [1]\n')
        == "study.toml: instruments[0]: expected a table, got 1"
    )


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("seed = 7\n", "study.toml: seed: missing; it is required here"),
        (
            'question = "Is it correct?"\n',
            "study.toml: instruments[0].criteria[0].question: missing",
        ),
        (
            'panel = "experts"\n\n[[sources]]',
            "study.toml: raters[0].panel: missing; it is required here",
        ),
        ('name = "kappa"\n', "study.toml: analyses[0].name: missing; it is required here"),
    ],
)
def test_a_missing_key(line: str, sentence: str) -> None:
    left = "[[sources]]" if line.endswith("[[sources]]") else ""
    assert refused(WHOLE.replace(line, left, 1)).startswith(sentence)


def test_a_codebook_that_is_not_there() -> None:
    sentence = refused(WHOLE.replace("codebook.md", "codebok.md"))
    assert (
        sentence
        == "study.toml: instruments[0].codebook: the file 'codebok.md' does not exist in the"
        " study's folder"
    )


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "is not UTF-8 text"),
        (IsADirectoryError(21, "Is a directory"), "cannot be read (Is a directory)"),
        (PermissionError(13, "Permission denied"), "cannot be read (Permission denied)"),
    ],
)
def test_a_codebook_that_cannot_be_read(fault: Exception, says: str) -> None:
    def broken(_: str) -> str:
        raise fault

    assert refused(WHOLE, broken).endswith(says)


def test_a_codebook_in_the_protocol_itself_needs_no_file() -> None:
    study = read(WHOLE.replace('"codebook.md"', '"""Read README.md\nthen decide."""'))
    assert study.instruments[0].codebook.startswith("Read README.md")


def test_a_newer_schema_is_told_before_its_unknown_keys() -> None:
    sentence = refused(f"schema = {SCHEMA + 1}\nsomething_new = 1\n" + WHOLE)
    assert sentence.startswith(f"study.toml: schema: this study has schema {SCHEMA + 1}")
    assert "install a newer konsil" in sentence


def test_what_is_not_toml_at_all() -> None:
    assert refused("title = \n").startswith("study.toml:1:9: not valid TOML: Invalid value; ")
    assert "twice" in refused('title = "a"\ntitle = "b"\n') or "overwrite" in refused(
        'title = "a"\ntitle = "b"\n'
    )


def test_one_text_stands_for_a_list_of_one() -> None:
    text = WHOLE.replace('statistic = "cohen_kappa"', 'statistic = "cohen_kappa"\nby = "system"')
    assert read(text).analyses[0].by == ("system",)


def test_the_digest_is_of_what_is_said_and_not_how() -> None:
    commented = "# a comment\n" + WHOLE.replace("seed = 7", "seed = 7 # why seven")
    swapped = WHOLE.replace('title = "A study"\nseed = 7', 'seed = 7\ntitle = "A study"')
    dotted = WHOLE.replace("[resampling]\ndraws = 500", "[resampling]\nlevel = 0.95\ndraws = 500")
    digest = study_digest(read(WHOLE))
    assert {study_digest(read(t)) for t in (commented, swapped, dotted)} == {digest}
    assert study_digest(read(WHOLE.replace("seed = 7", "seed = 8"))) != digest
    assert study_digest(read(WHOLE, lambda _: "# Another codebook")) != digest


def test_the_digest_takes_dates_of_toml() -> None:
    text = WHOLE.replace("temperature = 0.2", "until = 2026-01-01")
    assert len(study_digest(read(text))) == 64
