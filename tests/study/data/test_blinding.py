"""While a study is blinded, no characteristic of a judge says which judge it is."""

from __future__ import annotations

from konsil.records import Rater, System
from konsil.study import Study
from konsil.study.data.blinding import letters


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
