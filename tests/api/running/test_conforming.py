"""Nothing is computed on ratings that the protocol does not describe; what was renamed is said, or
accepted once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.errors import KonsilError, StudyError
from small_studies import exit_code, import_ratings

FORM = """
[[instruments]]
id = "f"
codebook = "Correct is what the guideline says."
[[instruments.criteria]]
id = "ok"
question = "Is it correct?"
scale = { labels = ["Incorrect", "Partly", "Correct"], level = "ordinal" }
"""
STUDY = """title = "Gate"
seed = 1
[[systems]]
id = "a"
[[systems]]
id = "b"
[[raters]]
id = "r1"
panel = "p"
[[raters]]
id = "r2"
panel = "p"
[[sources]]
file = "r.csv"
records = "ratings"
fixed = { criterion = "ok" }
[resampling]
draws = 200
[[analyses]]
name = "share"
statistic = "share"
of = ["Correct"]
criterion = "ok"
raters = "p"
by = ["system"]
[[analyses]]
name = "mean"
statistic = "mean"
criterion = "ok"
raters = "p"
"""
LABELS = ("Incorrect", "Partly", "Correct")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "study"
    path.mkdir()
    (path / "study.toml").write_text(STUDY + FORM)
    rows = [("rater", "item", "system", "label")]
    rows += [
        (r, f"q{i:02}", s, LABELS[(i + len(r) * (s == "b") + (r == "r2") * (i % 3 == 0)) % 3])
        for r in ("r1", "r2")
        for i in range(20)
        for s in ("a", "b")
    ]
    import_ratings(path, rows)
    return path


def rewrite(folder: Path, *pairs: tuple[str, str]) -> None:
    text = (folder / "study.toml").read_text()
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after)
    (folder / "study.toml").write_text(text)


def values(folder: Path) -> list[float]:
    return [row.estimate.value for row in open_folder(folder).results().rows]


def refusal(folder: Path) -> str:
    """The sentence with which every way to a number stops."""
    opened = open_folder(folder)
    refusals = set()
    for compute in (opened.results, opened.report, opened.data, opened.ratings):
        with pytest.raises(StudyError) as error:
            compute()
        refusals.add(str(error.value))
    assert len(refusals) == 1
    assert not (folder / "report").exists()
    return refusals.pop()


def test_a_label_that_the_scale_no_longer_has_stops_every_analysis(folder: Path) -> None:
    n = (folder / "r.csv").read_text().count(",Incorrect")
    rewrite(folder, ('"Incorrect"', '"Wrong"'))
    sentence = refusal(folder)
    assert (
        f"criterion 'ok' has no label 'Incorrect', which {n} ratings have; known: Correct, Partly,"
        " Wrong" in sentence
    )
    assert 'write renamed = { "Incorrect" = "..." }' in sentence
    assert "\n" not in sentence


def test_the_command_says_it_in_one_sentence_with_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(folder, ('"Incorrect"', '"Wrong"'))
    assert [exit_code("analyse", folder), exit_code("report", folder)] == [2, 2]
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0] == lines[1]
    assert not (folder / "estimates.csv").exists()


def test_a_renamed_label_that_the_protocol_declares_changes_no_number_and_is_told(
    folder: Path,
) -> None:
    before = values(folder)
    rewrite(
        folder,
        ('"Incorrect"', '"Wrong"'),
        ("question =", 'renamed = { "Incorrect" = "Wrong" }\nquestion ='),
    )
    opened = open_folder(folder)
    results = opened.results()
    assert [row.estimate.value for row in results.rows] == before
    n = (folder / "r.csv").read_text().count(",Incorrect")
    assert (
        f"In {n} ratings on ok the label was still called Incorrect; it is Wrong today."
        in results.methods
    )
    counts = results.label_counts
    assert {key[3] for key in counts} == {"Wrong", "Partly", "Correct"}


def test_a_renaming_explains_nothing_but_itself(folder: Path) -> None:
    """With the question changed as well, the form is another one, and somebody has to accept it."""
    rewrite(
        folder,
        ('"Incorrect"', '"Wrong"'),
        ("question =", 'renamed = { "Incorrect" = "Wrong" }\nquestion ='),
        ("Is it correct?", "Is it right?"),
    )
    assert "the form 'f' was changed after 80 of 80 ratings were given on it" in refusal(folder)
    assert exit_code("accept", folder, "--reason", "Plainer words.", "--by", "A. Author") == 0
    assert any("Plainer words." in text for text in open_folder(folder).results().methods)


def test_a_protocol_that_lists_no_systems_takes_any(folder: Path) -> None:
    before = values(folder)
    rewrite(folder, ('[[systems]]\nid = "a"\n[[systems]]\nid = "b"\n', ""))
    assert values(folder) == before
    rewrite(
        folder,
        (
            "seed = 1\n",
            'seed = 1\n[[systems]]\nid = "a"\n[[systems]]\nid = "b"\n[[systems]]\nid = "later"\n',
        ),
    )
    assert values(folder) == before


def test_labels_that_were_merged_are_no_renaming(folder: Path) -> None:
    rewrite(
        folder,
        ('["Incorrect", "Partly", "Correct"]', '["Wrong", "Correct"]'),
        ("question =", 'renamed = { "Incorrect" = "Wrong", "Partly" = "Wrong" }\nquestion ='),
    )
    assert "was changed" in refusal(folder)
    with pytest.raises(
        KonsilError,
        match=r"labels were \['Wrong', 'Wrong', 'Correct'\], now \['Wrong', 'Correct'\]",
    ):
        _accept(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            ('id = "ok"\nquestion', 'id = "right"\nquestion'),
            "instrument 'f' has no criterion 'ok', on which 80 ratings",
        ),
        (
            ('[[systems]]\nid = "b"', '[[systems]]\nid = "bb"'),
            (
                "there is no system 'b', to whose answers 40 ratings were given; did you mean"
                " 'bb'?; list every rated"
            ),
        ),
        (('id = "r2"', 'id = "x7"'), "there is no rater 'r2', who gave 40 ratings; known: r1, x7"),
        (
            ("question =", 'scope = "item"\nquestion ='),
            "criterion 'ok' is about item, but 80 ratings are about 1 answer",
        ),
        (('id = "f"', 'id = "g"'), "there is no instrument 'f', on which 80 ratings were given"),
        (
            ('["Incorrect", "Partly", "Correct"]', '["Correct", "Partly", "Incorrect"]'),
            "the form 'f' was changed after 80 of 80 ratings",
        ),
    ],
)
def test_whatever_else_the_protocol_has_no_longer_stops_it_too(
    folder: Path, change: tuple[str, str], sentence: str
) -> None:
    text = STUDY + FORM
    old, new = change
    if old == 'id = "ok"\nquestion':
        text = text.replace('criterion = "ok"', 'criterion = "right"')
    text = text.replace(old, new)
    (folder / "study.toml").write_text(text)
    assert sentence in refusal(folder)


def test_a_criterion_that_the_protocol_says_was_renamed_is_found(folder: Path) -> None:
    before = values(folder)
    rewrite(
        folder,
        ('criterion = "ok"', 'criterion = "right"'),
        ('id = "ok"\n', 'id = "right"\nformerly = ["ok"]\n'),
    )
    results = open_folder(folder).results()
    assert [row.estimate.value for row in results.rows] == before
    assert "In 80 ratings the criterion right was still called ok." in results.methods


def _accept(folder: Path) -> None:
    from konsil.api.running.accepting import accept

    accept(open_folder(folder), "A. Author", "Plainer words.")


@pytest.mark.slow
def test_other_words_are_accepted_once_with_a_reason_and_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = values(folder)
    rewrite(folder, ("Is it correct?", "Is the answer correct?"))
    assert "run 'konsil accept" in refusal(folder)
    assert exit_code("accept", folder, "--reason", "Plainer words.", "--by", "A. Author") == 0
    results = open_folder(folder).results()
    assert [row.estimate.value for row in results.rows] == before
    sentences = [text for text in results.methods if "wording" in text]
    assert len(sentences) == 1
    assert sentences[0].startswith(
        "The wording of the form f was changed after 80 of its 80 ratings; staff-1 accepted this"
    )
    assert sentences[0].endswith("with the reason: Plainer words.")
    with open_folder(folder).store() as store:
        assert [e.kind for e in store.events() if e.kind != "names shown"] == ["form accepted"]
        assert store.verify_log() == ()
    assert exit_code("verify-log", folder) == 0
    capsys.readouterr()
    assert exit_code("accept", folder, "--reason", "Again.", "--by", "A. Author") == 2
    assert "there is nothing to accept" in capsys.readouterr().err


@pytest.mark.slow
def test_a_second_change_needs_a_second_acceptance_and_no_more(folder: Path) -> None:
    rewrite(folder, ("Is it correct?", "Is the answer correct?"))
    _accept(folder)
    rewrite(folder, ("Is the answer correct?", "Is this answer correct?"))
    assert "was changed" in refusal(folder)
    _accept(folder)
    assert open_folder(folder).results().rows
    rewrite(folder, ("Is this answer correct?", "Is the answer correct?"))
    assert open_folder(folder).results().rows, "accepted before"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            ('["Incorrect", "Partly", "Correct"]', '["Correct", "Partly", "Incorrect"]'),
            "criterion 'ok': labels were",
        ),
        (
            ('"Incorrect", "Partly", "Correct"]', '"Incorrect", "Partly", "Correct", "More"]'),
            "labels were",
        ),
        (
            ('level = "ordinal" }', 'level = "ordinal", abstain = "cannot tell" }'),
            "abstain was None, now 'cannot",
        ),
        (('id = "f"', 'id = "f"\nshow_reference = true'), "show_reference is True and was False"),
    ],
)
def test_more_than_words_is_not_accepted(folder: Path, change: tuple[str, str], fault: str) -> None:
    rewrite(folder, change)
    with pytest.raises(StudyError, match="more than the wording") as error:
        _accept(folder)
    assert fault in str(error.value)
    assert "was changed" in refusal(folder)
    with open_folder(folder).store() as store:
        assert store.events() == ()


def test_titles_and_levels_are_no_change_of_what_raters_saw(folder: Path) -> None:
    before = values(folder)
    rewrite(folder, ("question =", 'title = "Correctness"\nquestion ='))
    assert values(folder) == before


def test_a_criterion_that_was_added_is_told(folder: Path) -> None:
    text = (folder / "study.toml").read_text()
    more = (
        '[[instruments.criteria]]\nid = "safe"\nquestion = "Safe?"\nscale = { labels = ["no",'
        ' "yes"] }\n'
    )
    (folder / "study.toml").write_text(text + more)
    _accept(folder)
    assert (
        "These criteria were added to the form f at the same time: safe."
        in open_folder(folder).results().methods
    )


def test_a_form_that_the_log_does_not_keep_is_read_from_the_former_file(
    folder: Path, tmp_path: Path
) -> None:
    """As in a study whose ratings were given before the log kept forms."""
    former = tmp_path / "former.toml"
    former.write_text((folder / "study.toml").read_text().replace("Is it correct?", "Correct?"))
    rows = (
        (folder / "r.csv")
        .read_text()
        .replace("rater,item,system,label", "rater,item,system,label,digest")
    )
    digest = _digest(former)
    (folder / "r.csv").write_text(
        "".join(
            line + ("\n" if n == 0 else f",{digest}\n") for n, line in enumerate(rows.splitlines())
        )
    )
    (folder / "konsil.db").unlink()
    open_folder(folder).import_sources()
    assert exit_code("accept", folder, "--reason", "Plainer words.", "--by", "A. Author") == 2
    accept = (
        "accept",
        folder,
        "--reason",
        "Plainer words.",
        "--by",
        "A. Author",
        "--former",
        former,
    )
    assert exit_code(*accept) == 0
    assert open_folder(folder).results().rows


def _digest(file: Path) -> str:
    from konsil.instrument import digest
    from konsil.study import parse

    return digest(parse(file.read_text(), lambda name: "", str(file)).instruments[0])


def test_ratings_that_are_excluded_need_no_description(folder: Path) -> None:
    rewrite(folder, ("[resampling]", '[exclusions]\nraters = ["r2"]\n[resampling]'))
    import sqlite3

    base = sqlite3.connect(folder / "konsil.db")
    for (name,) in base.execute("select name from sqlite_master where type = 'trigger'").fetchall():
        base.execute(f'drop trigger "{name}"')
    base.execute("update ratings set label = 'Banana' where rater = 'r2'")
    base.commit()
    base.close()
    assert open_folder(folder).results().rows
    rewrite(folder, ('[exclusions]\nraters = ["r2"]\n', ""))
    assert "criterion 'ok' has no label 'Banana', which 40 ratings have" in refusal(folder)


def test_the_acceptance_goes_along_with_an_export(folder: Path, tmp_path: Path) -> None:
    rewrite(folder, ("Is it correct?", "Is the answer correct?"))
    _accept(folder)
    exported = open_folder(folder).export(tmp_path / "out", "csv")
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "study.toml").write_text((folder / "study.toml").read_text())
    open_folder(copy).import_export(exported)
    assert values(copy) == values(folder)


def test_former_names_are_checked_against_the_form(folder: Path) -> None:
    for change, fault in (
        (
            'renamed = { "Correct" = "Partly" }',
            "renamed: 'Correct' is a current label; expected a former one",
        ),
        (
            'renamed = { "Right" = "Corect" }',
            "renamed: there is no label 'Corect'; did you mean 'Correct'?",
        ),
        ('formerly = ["ok"]', "formerly: 'ok' is a current criterion"),
    ):
        (folder / "study.toml").write_text(
            (STUDY + FORM).replace("question =", f"{change}\nquestion =")
        )
        with pytest.raises(StudyError, match="instrument") as error:
            open_folder(folder)
        assert fault in str(error.value)


def test_the_estimates_file_is_that_of_the_ratings_as_they_were(folder: Path) -> None:
    assert exit_code("analyse", folder) == 0
    before = json.loads((folder / "estimates.json").read_text())
    rewrite(
        folder,
        ('"Incorrect"', '"Wrong"'),
        ("question =", 'renamed = { "Incorrect" = "Wrong" }\nquestion ='),
    )
    assert exit_code("analyse", folder) == 0
    after = json.loads((folder / "estimates.json").read_text())
    assert [r["value"] for r in before["rows"]] == [r["value"] for r in after["rows"]]
