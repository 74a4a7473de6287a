"""A study with a real model on this machine: small, weak, and it must break nothing."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.cli.main import group
from konsil.collect.local.local import must_run
from konsil.errors import CollectError
from konsil.store.calls.calls import Calls

CASES = Path(__file__).resolve().parents[2] / "docs" / "example" / "clexeval"
MODEL = "local:smollm2"
FEW = 'max_tokens = 120\noptions = { repeat_penalty = 1.2, stop = ["\\n## Thinking"] }'
"""So small a model says the same again and again: it is stopped where it begins anew."""


@pytest.fixture(autouse=True)
def _installed() -> None:
    """A real model is tried where somebody has installed it: `konsil local install`, or
    KONSIL_MODELS."""
    try:
        must_run("smollm2")
    except CollectError as error:
        pytest.skip(str(error))


def run(*arguments: object) -> str:
    done = CliRunner().invoke(group, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def with_the_model(folder: Path, edits: tuple[tuple[str, str], ...], few: str = FEW) -> None:
    """What is commented out for want of a model, with the local one in its place; few tokens, as
    time counts."""
    place = folder / "study.toml"
    text = place.read_text("utf-8")
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after)
    start, end = text.index("# WHO answers"), text.index("# WHERE the models")
    systems = re.sub(r"(?m)^#(?! )", "", text[start:end])
    systems = systems.replace("hosted:MODEL-1", MODEL).replace("hosted:MODEL-2", "fake:right=0.5")
    text = text[:start] + re.sub(r"max_tokens = \d+", lambda _: few, systems) + text[end:]
    judge = (
        f'\n[[judges]]\nrater = "judge-1"\nmodel = "{MODEL}"\nsettings = {{ temperature = 0,'
        " max_tokens = 120 }\n"
    )
    place.write_text(f"{text}{judge}\n[resampling]\ndraws = 100\n", "utf-8")


@pytest.mark.slow
def test_clexeval_with_a_real_model(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    run("new", folder, "--protocol", "clexeval")
    sizes = (
        ("size = 42", "size = 3"),
        ("pilot = 2, half-1 = 20, half-2 = 20", "pilot = 1, half-1 = 1, half-2 = 1"),
        ("[prepare.mask]\n", ""),
    )
    with_the_model(folder, sizes)
    with (CASES / "cases.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    with (folder / "cases.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows[:3]])
    run("import", folder)
    pool = folder / "pool.csv"
    run("screen", folder, "--table", pool)
    pool.write_text(re.sub(r"(?m)^([a-z]+),,,", r"\1,,,keep", pool.read_text("utf-8")), "utf-8")
    run("screen", folder, "--decisions", pool, "--by", "p-1")
    run("prepare", folder)
    assert "3 done in 3 calls" in run("answer", folder, "--system", "system-1")
    run("answer", folder)
    with open_folder(folder).store() as store:
        answers = [a for a in store.answers() if a.system == "system-1"]
    # How many replies come to their end is the model's affair; one that was cut off is no answer,
    # and is counted.
    for answer in answers:
        # Kept apart, whether the model kept to the headings or not.
        assert answer.text.strip()
        assert "Final response" not in answer.reasoning
        assert not answer.reasoning.lstrip("# ").startswith("Thinking")
    run("plan", folder)
    run("judge", folder, "--judge", "judge-1", "--limit", 1)
    run("judge", folder, "--judge", "name-finder")
    with open_folder(folder).store() as store:
        assert {r.label for r in store.ratings() if r.rater == "name-finder"} <= {"no", "yes"}
        replies = Calls(store).ended("answer")
    assert len([1 for _, who, _ in replies if who == "system-1"]) == 3


@pytest.mark.slow
def test_cqa_eval_with_a_real_model(tmp_path: Path) -> None:
    """Five examples show even so small a model the two headings; what it says under them is cut
    into sentences."""
    folder = tmp_path / "questions"
    run("new", folder, "--protocol", "cqa-eval")
    with_the_model(folder, (), "max_tokens = 250")
    text = (folder / "study.toml").read_text("utf-8")
    start = text.index("[prepare]")
    (folder / "study.toml").write_text(
        text[:start] + text[text.index("[[plan]]", start) :], "utf-8"
    )
    asked = {"q1": "Can I take ibuprofen for a headache?", "q2": "Can I swim with a cold?"}
    rows = {
        "questions.csv": [("item", "text"), *asked.items()],
        "answers.csv": [
            ("item", "system", "text"),
            *((item, "physician", "Rest. Drink.") for item in asked),
        ],
    }
    for name, lines in rows.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(lines)
    run("import", folder)
    assert "2 done in 2 calls" in run("answer", folder, "--system", "system-1")
    with open_folder(folder).store() as store:
        answers = [a for a in store.answers() if a.system == "system-1"]
    parted = [a for a in answers if a.reasoning.strip()]
    if not parted:
        pytest.skip(
            "on this machine the model came to no end within 250 tokens, or kept to no headings"
        )
    for answer in parted:
        assert answer.text.strip()
        assert not {"Reasoning", "Final answer"} & {
            *answer.reasoning.splitlines(),
            *answer.text.splitlines(),
        }
        assert answer.sentences
        assert all(answer.text[s.start : s.end].strip() for s in answer.sentences)
