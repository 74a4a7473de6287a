"""All protocols, side by side: made, checked, rehearsed through the pages and reported, by commands
alone."""

from __future__ import annotations

import itertools
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import konsil.analysis.running.rows.parts as run_module
from konsil.cli.main import group
from konsil.errors import AnalysisError, IncompleteError, StudyError
from small_protocols import SMALL

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: object) -> str:
    done = CliRunner().invoke(group, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


MOST = {"medqade": 4, "real-pocqi": 2, "clexeval": 8, "cqa-eval": 20}
"""Pages of each rater: past the pilot, where there is one."""


def test_every_protocol_is_here_and_in_the_document() -> None:
    there = {
        p.name for p in files("konsil.protocols").iterdir() if p.joinpath("study.toml").is_file()
    }
    assert there == {*SMALL, "starter"}
    told = (ROOT / "docs" / "protocols.md").read_text("utf-8")
    for name in SMALL:
        assert f"`{name}`" in told
        assert f"konsil new study --protocol {name}\n" in told


@pytest.mark.covering(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SMALL))
def test_made_checked_rehearsed_and_reported(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / name
    run("new", folder, "--protocol", name, "--language", "en")
    SMALL[name](folder)
    assert "checksum" in run("check", folder)
    said = run("rehearse", folder, "--to", tmp_path / "rehearsal", "--most", MOST[name])
    assert "0 faults" in said
    page = tmp_path / "rehearsal" / "report" / "index.html"
    text = page.read_text("utf-8")
    assert "Rehearsal: " in text
    assert text.count("<figure") > 2
    assert not (folder / "konsil.db").exists(), "the study itself is only read"
    if name == "clexeval":  # the shortest: of the others, the two reports below draw one half each
        run("report", tmp_path / "rehearsal")
    for remainder in (0, 1):
        page.unlink()
        _refuse_every_second(monkeypatch, remainder)
        refused = CliRunner().invoke(group, ["report", str(tmp_path / "rehearsal")])
        assert isinstance(refused.exception, IncompleteError)
        assert refused.output.endswith("index.html\n")
        text = page.read_text("utf-8")
        assert "Rehearsal: " in text
        assert "<figure" in text
        monkeypatch.undo()


def _refuse_every_second(monkeypatch: pytest.MonkeyPatch, remainder: int) -> None:
    numbers = itertools.count()
    rows_of = run_module.rows_of

    def refuse(context: Any, *arguments: Any) -> Any:
        if next(numbers) % 2 == remainder:
            raise AnalysisError(f"{context.analysis.name}: cannot be made")
        return rows_of(context, *arguments)

    monkeypatch.setattr(run_module, "rows_of", refuse)


@pytest.mark.covering(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_protocol_without_any_file_is_rehearsed_with_pretended_items(
    tmp_path: Path, name: str
) -> None:
    folder = tmp_path / name
    run("new", folder, "--protocol", name, "--language", "en" if name == "real-pocqi" else "de")
    SMALL[name](folder)
    for file in (*folder.glob("*.csv"), *folder.glob("deck.json")):
        file.unlink()
    with pytest.raises(
        StudyError, match=r"'--items \d+' rehearses with simulated items"
    ) as refused:
        run("rehearse", folder)
    assert not folder.with_name(f"{name}-rehearsal").exists(), "nothing half-made"
    wanted = re.findall(r"--items (\d+)", str(refused.value))
    n = min(int(wanted[0]), 12) if name == "real-pocqi" else int(wanted[0])
    assert "0 faults" in run("rehearse", folder, "--items", n, "--most", 2)
    assert {p.name for p in folder.iterdir()}.isdisjoint({"konsil.db", "report"}), (
        "the study itself is only read"
    )
