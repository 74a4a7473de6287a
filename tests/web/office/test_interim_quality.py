"""The page of blinded interim quality: who sees it, and that nothing in it is by system."""

from __future__ import annotations

import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from konsil.analysis.running.interim.pooled import CriterionQuality, PeriodQuality
from konsil.stats.engine.contract import Estimate
from konsil.stats.inference.shift import Shift
from konsil.store import Store
from konsil.store.people.access import Access
from konsil.study.definition.interim import Interim, InterimRule, Look
from konsil.study.interim import quality
from konsil.study.interim.looks import Progress, look_states
from konsil.study.interim.quality import PanelQuality
from konsil.study.interim.rules import applied_rules
from konsil.web.app.app import create_app
from konsil.web.office import flags
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


KAPPA_BY_WEEK = (
    PeriodQuality("2025-W10", 120, {"no": 0.4, "yes": 0.6}, Estimate(0.5, 0.25, 0.75)),
    PeriodQuality(
        "2025-W11",
        96,
        {"no": 0.3, "yes": 0.7},
        Estimate(-0.1, -0.3, 0.2),
        Estimate(0.08, 0.03, 0.15),
        Estimate(41.6, 30.2, 57.1),
    ),
)
CRITERIA = (
    CriterionQuality(
        "correctness",
        "fleiss_kappa",
        Estimate(0.35, 0.2, 0.5),
        Estimate(0.05, 0.02, 0.1),
        Estimate(math.nan),
        2,
        216,
        10,
        100,
        KAPPA_BY_WEEK,
        Shift(9.0, 0.002),
        Shift(1.0, 0.4),
        0.004,
        0.4,
    ),
    CriterionQuality(
        "difficulty",
        "krippendorff_alpha",
        *[Estimate(math.nan)] * 3,
        n_raters=1,
        n_ratings=4,
        n_abstained=0,
        n_units=0,
    ),
)


def quality_page(
    tmp_path: Path, empty: Path, study: Any, kit: Any, monkeypatch: pytest.MonkeyPatch
) -> str:
    """The page of a coordinator for these numbers."""
    shutil.copyfile(empty, tmp_path / "konsil.db")
    clock = kit.clock()
    progress = Progress(216, 400)
    interim = study.interim
    rules, looks = applied_rules(interim, CRITERIA, progress), look_states(interim, (), progress)
    panel = PanelQuality("panel", progress, CRITERIA, rules, looks)
    monkeypatch.setattr(flags, "_panels", lambda _: [panel])
    with Store.open(tmp_path) as store:
        kit.fill(store, study)
        app = create_app(study, store, Options(url=URL), clock=clock)
        with TestClient(app, base_url=URL) as client:
            browser = kit.browser(client)
            secret = Access(store).invite("who", "coordinator", at=clock.stamp(), expires_at=LATER)
            browser.post(f"/come/{secret}")
            return client.get("/office/quality").text


@pytest.mark.slow
def test_pictures_have_words_and_the_tables_their_numbers(
    tmp_path: Path,
    empty: Path,
    studies: dict[str, Any],
    kit: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A shift is flagged by a rule of the protocol alone, by its adjusted p."""
    drift = InterimRule("label_drift", "correctness", "retrain", below=0.01)
    wide = InterimRule(
        "agreement", "correctness", "extend", end="half_width", above=0.1, maximum=420, text=""
    )
    # The sample has its maximum already, so that nothing follows.
    full = replace(wide, maximum=400, text="canary text of the rule")
    study = replace(studies["medqade"], interim=replace(PLANNED, rules=(drift, wide, full)))
    html = " ".join(quality_page(tmp_path, empty, study, kit, monkeypatch).split())
    pictures = re.findall(r"<svg.*?</svg>", html)
    assert len(pictures) == 2
    for picture in pictures:
        labels = re.search(r'aria-labelledby="(\S+) (\S+)"', picture)
        assert labels
        for label in labels.groups():
            assert html.count(f'id="{label}"') == 1
        assert "<title" in picture
        assert "<desc" in picture
        assert "style=" not in picture
    assert "Übereinstimmung bei correctness nach Block oder Woche mit KI" in pictures[1]
    # By hand: the axis runs from -0.5 at 20 to 1 at 320, so that 0.5 is at 220.
    assert 'cx="220.0"' in pictures[1]
    assert pictures[1].count("<circle") == 2
    assert pictures[0].count("<circle") == 1
    assert "0,080 [0,030; 0,150]" in html
    assert "42 [30; 57]" in html
    assert html.count('<span class="mark">markiert</span> 0,004') == 1
    # 0.15 x sqrt(216 / 400) is 0.110, and 400 x 1.1023^2 is 486.
    assert "auf insgesamt 420 erweitern (benötigt: 486, höchstens: 420)" in html
    assert "auf insgesamt 400 erweitern (benötigt: 486, höchstens: 400)" in html
    assert "canary text of the rule" not in html
    for system in study.systems:
        assert system.id not in html
