"""A release has no text of a question that was screened out: it may name somebody."""

from __future__ import annotations

from pathlib import Path

from konsil.api.curation.screening import screen_items
from small_studies import ITEMS, form, import_items, study_text

STUDY = study_text(
    "Released",
    form(),
    ITEMS,
    '[prepare.screen]\nundecided = "kept"',
    seed=3,
    licence="CC0-1.0",
)


def test_no_text_of_what_was_screened_out(tmp_path: Path) -> None:
    rows = [("q0", "My patient Mrs Smith has AF"), ("q1", "Which dose?")]
    opened = import_items(tmp_path, STUDY, [("item", "text"), *rows])
    screen_items(opened)
    released = opened.release(tmp_path / "release")
    assert released.withheld["items excluded by screening, with all related records"] == 1
    items = (tmp_path / "release" / "items.csv").read_text("utf-8")
    assert "Which dose?" in items
    assert "q0" not in items
    assert all(
        "Smith" not in file.read_text("utf-8") for file in (tmp_path / "release").rglob("*.csv")
    )
