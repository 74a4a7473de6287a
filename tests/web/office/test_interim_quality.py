"""The page of blinded interim quality: who sees it, and that nothing in it is by system."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from konsil.store import Store
from konsil.store.people.access import Access
from konsil.study.data import quality
from konsil.study.definition.interim import Interim, InterimRule, Look
from konsil.web.app.app import create_app
from konsil.web.site.site import Options

URL = "http://testserver"
R1, R2 = "canary-rater-1", "canary-rater-2"
LATER = "2025-06-01T12:00:00Z"
PLANNED = Interim(
    "panel",
    looks=(Look(0.5),),
    rules=(InterimRule("agreement", "correctness", "retrain", below=0.99, text="meet again"),),
)


def pages(
    tmp_path: Path, empty: Path, study: Any, kit: Any, labels: tuple[str, str]
) -> dict[str, str]:
    """Role -> the page, after two raters gave these labels everywhere."""
    shutil.copyfile(empty, tmp_path / "konsil.db")
    clock, shown = kit.clock(), {}
    with Store.open(tmp_path) as store:
        kit.fill(store, study)
        app = create_app(study, store, Options(url=URL), clock=clock)
        desk = app.state.site.desk
        for rater, label in zip((R1, R2), labels, strict=True):
            form = {**{f"correctness.a{n}": label for n in range(1, 6)}, "difficulty": "Mittel"}
            while (public := desk.next_task(rater)) is not None:
                assert desk.submit(rater, public, form, 0).is_stored
        for role in ("coordinator", "analyst", "owner"):
            with TestClient(app, base_url=URL) as client:
                browser = kit.browser(client)
                secret = Access(store).invite(
                    f"who-{role}", role, at=clock.stamp(), expires_at=LATER
                )
                browser.post(f"/come/{secret}")
                shown[role] = client.get("/office/quality").text
                assert client.get("/office/quality").text == shown[role]
    return shown


@pytest.mark.slow
def test_coordinators_see_agreement_only_where_looks_are_planned(
    tmp_path: Path, empty: Path, studies: dict[str, Any], kit: Any
) -> None:
    study = studies["medqade"]
    plain, planned = tmp_path / "plain", tmp_path / "planned"
    plain.mkdir()
    planned.mkdir()
    closed = pages(plain, empty, study, kit, ("Richtig", "Falsch"))
    assert "<table" not in closed["coordinator"]
    assert "<table" in closed["analyst"]
    assert "<table" in closed["owner"]
    assert 'href="/office/quality"' not in closed["coordinator"]

    opened = pages(planned, empty, replace(study, interim=PLANNED), kit, ("Richtig", "Falsch"))
    html = opened["coordinator"]
    assert 'href="/office/quality"' in html
    assert "meet again" in html
    cells = re.findall(r"<td[^>]*>(.*?)</td>", html, flags=re.DOTALL)
    assert any(cell.startswith("-") or cell.startswith("\u2212") for cell in cells), cells
    for system in study.systems:
        assert system.id not in html
    assert "Zwischenauswertung 1, bei 50 %: fällig" in " ".join(html.split())
    rule = "Bewertende erneut schulen, wenn die Übereinstimmung bei correctness unter 0,990 liegt"
    assert rule in html


@pytest.mark.slow
def test_a_page_has_the_numbers_of_a_look_and_is_computed_once(
    tmp_path: Path,
    empty: Path,
    studies: dict[str, Any],
    kit: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = replace(studies["medqade"], interim=PLANNED)
    draws = []
    computed = quality.qualities

    def counted(study: Any, *rest: Any) -> Any:
        draws.append(study.resampling.draws)
        return computed(study, *rest)

    monkeypatch.setattr(quality, "qualities", counted)
    opened = pages(tmp_path, empty, study, kit, ("Richtig", "Richtig"))
    assert "<table" in opened["coordinator"]
    # Each sign-in is an entry of the log: three computations for six pages.
    assert draws == [study.resampling.draws] * 3
