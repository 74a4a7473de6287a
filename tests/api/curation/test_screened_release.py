"""A release has no text of a question that was screened out: it may name somebody."""

from __future__ import annotations

from pathlib import Path

from konsil.api import open_folder
from konsil.api.curation.screening import screen_items

STUDY = """
title = "Released"
seed = 3
licence = "CC0-1.0"
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "correct"
question = "Is it correct?"
scale = { labels = ["no", "yes"] }
[[sources]]
file = "items.csv"
records = "items"
[prepare.screen]
undecided = "kept"
"""


def test_no_text_of_what_was_screened_out(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    (tmp_path / "items.csv").write_text(
        "item,text\nq0,My patient Mrs Smith has AF\nq1,Which dose?\n", "utf-8"
    )
    opened = open_folder(tmp_path)
    opened.import_sources()
    screen_items(opened)
    released = opened.release(tmp_path / "release")
    assert released.withheld["items that were screened out, with all about them"] == 1
    items = (tmp_path / "release" / "items.csv").read_text("utf-8")
    assert "Which dose?" in items
    assert "q0" not in items
    assert all(
        "Smith" not in file.read_text("utf-8") for file in (tmp_path / "release").rglob("*.csv")
    )
