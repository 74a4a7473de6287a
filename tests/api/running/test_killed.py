"""What a kill between two steps of a command left behind: nothing is written in part, and the
command runs again."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.folder.blinded import freeze
from konsil.store.log import audit
from small_studies import exit_code, import_ratings

STUDY = """title = "Killed"
seed = 1
[[instruments]]
id = "f"
[[instruments.criteria]]
id = "ok"
question = "Is it correct?"
scale = { labels = ["no", "yes"] }
[[systems]]
id = "a"
[[raters]]
id = "r1"
panel = "p"
[[sources]]
file = "r.csv"
records = "ratings"
fixed = { criterion = "ok" }
[[analyses]]
name = "Right"
statistic = "share"
of = ["yes"]
criterion = "ok"
raters = "p"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study"
    path.mkdir()
    (path / "study.toml").write_text(STUDY)
    import_ratings(path, [("rater", "item", "system", "label"), ("r1", "q1", "a", "yes")])
    return path


def test_an_export_is_read_into_a_database_whose_making_was_killed(
    study: Path, tmp_path: Path
) -> None:
    """It said "contains no study yet; import something first" to somebody who was importing."""
    assert exit_code("export", study, tmp_path / "records") == 0
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "study.toml").write_text(STUDY)
    (copy / "konsil.db").touch()
    assert not open_folder(copy).has_store()
    assert exit_code("import", copy, "--export", tmp_path / "records") == 0
    assert open_folder(copy).has_store()


class KilledError(Exception):
    """Instead of the process."""


@pytest.mark.parametrize("command", ["freeze", "accept"])
def test_an_event_and_its_entry_in_the_log_are_written_together(
    study: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Between both, a kill once left a form accepted of which the log said nothing."""
    from konsil.api.running.accepting import accept

    if command == "accept":
        (study / "study.toml").write_text(STUDY.replace("Is it correct?", "Is this correct?"))
    append = audit.append

    def killed(connection: object, kind: str, data: Mapping[str, object], at: str) -> int:
        if kind not in ("import", "protocol", "records"):
            raise KilledError
        return append(connection, kind, data, at)  # type: ignore[arg-type]

    def run() -> None:
        if command == "accept":
            accept(open_folder(study), "ada", "same meaning")
        else:
            freeze(open_folder(study), "ada")

    def events() -> int:
        with sqlite3.connect(study / "konsil.db") as base:
            return int(base.execute("SELECT count(*) FROM events").fetchone()[0])

    before = events()
    with monkeypatch.context() as patch:
        patch.setattr(audit, "append", killed)
        with pytest.raises(KilledError):
            run()
    assert events() == before
    run()
    assert events() == before + 1
    assert exit_code("verify-log", study) == 0
