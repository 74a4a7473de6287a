"""The command that makes a demonstration study: where it is made, and with which models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from konsil.api.rehearsal import local_demo, rehearsal

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Studies without content, in a folder of their own; the whole ones take seconds."""

    def study(folder: Path, *_: object) -> Path:
        folder.mkdir()
        return folder / "index.html"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rehearsal, "demo", study)
    monkeypatch.setattr(
        local_demo, "local_demo", lambda place, progress: (progress("asked"), study(place))[1]
    )


def test_each_demonstration_study_has_a_folder_of_its_own(call: Call, tmp_path: Path) -> None:
    for name in ("konsil-demo", "konsil-demo-2", "konsil-demo-3"):
        assert call("demo") == (0, f"study:  {name}\nreport: {name}/index.html\n", "")
        assert (tmp_path / name).is_dir()
    assert call("demo", "mine")[1] == "study:  mine\nreport: mine/index.html\n"


def test_a_local_model_goes_on_in_its_own_folder_and_states_its_progress(call: Call) -> None:
    place = "konsil-demo-local"
    out = f"study:  {place}\nreport: {place}/index.html\n"
    assert call("demo", "--local") == (0, out, "asked\n")
    assert call("demo", "own", "--local")[1].startswith("study:  own\n")
