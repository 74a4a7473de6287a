"""konsil statistics: all that an analysis can ask for, and one of them explained."""

from __future__ import annotations

import re

import pytest

from konsil.analysis import known_statistics
from konsil.analysis.model.catalogue.known import CATALOGUE, SCORED
from konsil.cli.main import main


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(["statistics", *arguments])
    return capsys.readouterr().out


def test_every_statistic_is_listed_once_under_its_family(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = output(capsys).splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == list(known_statistics())
    headings = [line for line in lines if line and not line.startswith(" ")]
    assert len(headings) == len({statistic.family for statistic in CATALOGUE.values()})


@pytest.mark.parametrize(
    "name",
    ["cohen_kappa_linear", "self_preference", "budget_reliability", "icc2", "mann_whitney"],
)
def test_one_is_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = re.sub(r"\s+", " ", output(capsys, name))
    known = CATALOGUE[name]
    assert text.startswith(f"{name}: {known.title} {known.text}")
    assert (known.undefined or "no unit has ratings") in text
    assert known.source in text
    assert ("at least ordinal" in text) == known.needs_order
    assert ("only those that every rater rated" in text) == known.needs_complete
    assert ("can be a composite score" in text) == (name in SCORED)
    assert all(key in text for key in known.keys)
    refused = ", ".join(known.limits.refused_keys)
    assert (f"not with: {refused}" in text) == bool(refused)
    assert ("needs: minutes" in text) == (name == "budget_reliability")
    assert known.as_published in text


def test_in_german(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Cohens Kappa" in output(capsys, "cohen_kappa", "--language", "de")
    assert "Anteil" in output(capsys, "--language", "de")


@pytest.mark.parametrize("name", [name for name, s in CATALOGUE.items() if s.definition == s.text])
def test_one_is_explained_in_german_alone(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Kills: facts about a statistic that stay English."""
    german = re.sub(r"\s+", " ", output(capsys, name, "--language", "de"))
    known = CATALOGUE[name]
    assert "nicht schätzbar: " in german and "Schlüssel: " in german
    facts = (known.undefined, known.as_published, known.text, "no unit has ratings")
    english = [*facts, "at least ordinal", "only those that", "can be a composite", "not with:"]
    assert [fact for fact in english if fact and fact in german] == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("choen_kappa",),
            "konsil: there is no statistic 'choen_kappa'; did you mean 'cohen_kappa'?",
        ),
        (
            ("share", "--language", "fr"),
            "konsil: --language 'fr': there is no such language; known: de, en",
        ),
    ],
)
def test_what_does_not_exist(
    arguments: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["statistics", *arguments])
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err
