"""The stages of a study: which there are, and what each still needs."""

from __future__ import annotations

from konsil.design.stages import Collected, compared_column, stages_of
from konsil.study import Study, parse

FORM = """
[[instruments]]
id = "form"
criteria = [{ id = "ok", question = "Is it?", scale = { labels = ["no", "yes"] } }]
[[raters]]
id = "r1"
panel = "experts"
"""


def study(text: str) -> Study:
    return parse(f'schema = 1\ntitle = "T"\nseed = 1\n{text}{FORM}', lambda _: "")


NOTHING = Collected()


def names(of: Study, collected: Collected = NOTHING) -> dict[str, tuple[str, ...]]:
    return {stage.name: stage.needs for stage in stages_of(of, collected)}


def test_models_answer_between_the_import_and_the_plan() -> None:
    """Kills: a plan of answers that do not exist; a stage where no model answers."""
    model = """
endpoints = [{ id = "e", url = "http://127.0.0.1:9/v1" }]
systems = [{ id = "a", model = "e:m" }, { id = "b" }]
sources = [{ file = "q.csv", records = "items" }]
plan = [{ panel = "experts", instrument = "form" }]
"""
    of = study(model)
    assert list(names(of))[:3] == ["import", "answer", "plan"]
    assert names(of)["answer"] == ("import",)
    asked = names(of, Collected(items=3, silent=1))
    assert (asked["answer"], asked["plan"]) == ((), ("answers",))
    assert names(of, Collected(items=3))["plan"] == ()
    assert "answer" not in names(study(model.replace(', model = "e:m"', "")))


def test_table_2_is_of_ratings_that_exist_and_of_several_groups() -> None:
    """Kills: a button that can only fail."""
    rated = """
systems = [{ id = "a" }, { id = "b" }]
sources = [{ file = "r.csv", records = "ratings" }]
"""
    assert list(names(study(rated))) == ["import", "report", "table"]
    assert names(study(rated), Collected(ratings=9))["table"] == ()
    assert names(study(rated))["table"] == ("import",)
    alone = rated.replace(', { id = "b" }', "")
    assert "table" not in names(study(alone))
    grouped = study(
        alone.replace(
            "sources = [", 'sources = [{ file = "i.csv", records = "items", strata = ["ward"] }, '
        )
    )
    assert "table" in names(grouped) and compared_column(grouped) == "ward"
