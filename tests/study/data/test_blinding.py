"""While a study is blinded, no characteristic of a judge says which judge it is."""

from __future__ import annotations

from konsil.analysis import Analysis
from konsil.records import Rater, System
from konsil.study import Study
from konsil.study.data.blinding import letters, without_families


def test_of_judges_only_the_columns_of_characteristics_stay() -> None:
    strata = {"system": "a", "vendor": "Mistral"}
    judge = Rater("judge-a", "judges", kind="llm", family="m", strata=strata)
    person = Rater("e1", "experts", strata={"vendor": "none", "site": "north"})
    study = Study("t", 1, systems=(System("a", "m"),), raters=(judge, person))
    named = letters(study, study.raters, (), b"key")
    shown = named.rater(judge)
    assert shown.id != "judge-a"
    assert shown.family == ""
    assert shown.strata == {"vendor": "withheld"}
    assert named.rater(person) == person


def test_families_of_systems_are_withheld_since_two_of_three_may_share_one() -> None:
    systems = (System("a", "m"), System("b", "m"), System("c", "n"))
    study = Study("t", 1, systems=systems)
    shown = letters(study, (), (), b"key").study(study)
    assert [s.family for s in shown.systems] == ["", "", ""]


def test_analyses_of_families_are_listed() -> None:
    analyses = (
        Analysis("selected", "share", "c", "judges", where={"family": ("m",)}),
        Analysis("grouped", "share", "c", "judges", by=("family",)),
        Analysis("own", "self_preference", "c", "judges"),
        Analysis("plain", "share", "c", "judges", by=("system",)),
    )
    assert without_families(Study("t", 1, analyses=analyses)) == ("selected", "grouped", "own")
