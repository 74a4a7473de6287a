"""Tables of comparisons in the set-up of a study: accepted with their numbers, or their command."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from tests.api.design.test_draft import opened
from tests.api.folder.sources.test_source_outcomes import (
    TABLES,
    Cells,
    counts,
    in_orders,
    of_study,
    of_table,
    orders,
    wide,
)

from konsil.api.design.draft import Draft
from konsil.api.design.saving import save
from small_studies import exit_code


def with_table(folder: Path, rows: Cells) -> Draft:
    draft = opened(folder)
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    loaded = draft.add_table("votes.csv", text.getvalue().encode())
    draft.use_table("votes.csv", loaded.roles)
    return draft


def test_raters_with_a_column_each_are_proposed_as_in_preference(tmp_path: Path) -> None:
    draft = with_table(tmp_path / "s", wide())
    loaded = draft.tables["votes.csv"]
    assert loaded.form == "pairs" and loaded.is_used and draft.command_of("votes.csv") == ""
    assert loaded.roles == {
        "item": "item",
        "system_a": "system_a",
        "system_b": "system_b",
        "dr_a": "label_of_rater",
        "dr_b": "label_of_rater",
    }
    assert all(guess.confidence != "unsure" for guess in loaded.guesses)
    [source] = draft.data["sources"]
    [form] = draft.data["instruments"]
    [criterion] = form["criteria"]
    assert source["raters"] == {"dr_a": "rater-1", "dr_b": "rater-2"}
    assert source["fixed"] == {"criterion": criterion["id"]}
    assert (form["unit"], criterion["scope"]) == ("pair", "pair")
    assert criterion["scale"]["labels"] == ["A is better", "Tie", "B is better"]


@pytest.mark.slow
@pytest.mark.parametrize("shape", TABLES)
def test_a_study_that_is_set_up_has_the_numbers_of_the_table(shape: str, tmp_path: Path) -> None:
    draft = with_table(tmp_path / "s", TABLES[shape])
    [criterion] = draft.data["instruments"][0]["criteria"]
    analysis = {"name": "wins", "statistic": "win_difference"}
    analysis |= {"criterion": criterion["id"], "raters": "raters"}
    inference = {"raters": "like these"}
    draft.change({**draft.data, "title": "T", "inference": inference, "analyses": [analysis]})
    assert draft.problems() == ()
    save(draft)
    assert exit_code("import", draft.folder) == 0
    assert of_study(draft.folder) == of_table(TABLES[shape])


@pytest.mark.parametrize(
    "rows", [counts(), orders(), in_orders()], ids=["counts", "orders", "sides"]
)
def test_comparisons_that_are_no_ratings_have_their_command(rows: Cells, tmp_path: Path) -> None:
    draft = with_table(tmp_path / "s", rows)
    assert not draft.tables["votes.csv"].is_used
    assert draft.command_of("votes.csv") == "konsil preference votes.csv"
    assert not draft.data.get("sources")
