"""What curators do on the pages is what the commands go on from: screening, drawing, masking."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from konsil.api import open_folder
from konsil.api.curation.masking import mask_cases
from konsil.api.curation.preparing import is_being_prepared, prepare
from konsil.api.curation.requests import ScreeningRequest
from konsil.api.curation.screening import screen_items
from konsil.api.running import invitations
from konsil.api.running.requests import InvitationRequest
from konsil.cli import main
from konsil.errors import PlanError, StudyError
from konsil.store.people.access import role_of
from konsil.study import Study
from konsil.web import create_app
from konsil.web.app.routes import ROUTES
from konsil.web.curation.marks import Marks
from konsil.web.curation.pool import Pool
from konsil.web.site.guard import Public
from small_studies import ITEMS, form, import_items, plan, raters, study_text

STUDY = study_text(
    "Curated",
    form(),
    raters("r1"),
    ITEMS,
    """[prepare.screen]
rules = ["identifier"]
criteria = ["The course is rare.", "The details are complete."]
undecided = "left out"
[prepare.mask]""",
    plan(),
    seed=3,
)
TEXT = "Fever and a dry cough, then a rash; it was measles."
AT = "2025-03-01T12:00:00Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [(f"c{n}", TEXT, "Measles") for n in range(1, 5)]
    return import_items(tmp_path, STUDY, [("item", "text", "reference"), *rows]).path


def test_from_the_pages_to_the_versions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = open_folder(folder)
    met = opened.study.prepare.screen.criteria  # type: ignore[union-attr]
    with opened.store() as store:
        pool = Pool(opened.study, store, lambda: AT)
        assert pool.decide("c1", "keep", by="ada", base_number=0, met=met) == ""
    main(["screen", str(folder)])
    assert "excluded, nobody decided: 3\n" in capsys.readouterr().out
    with opened.store() as store:
        pool = Pool(opened.study, store, lambda: AT)
        assert pool.decide("c2", "keep", by="ben", base_number=0, met=met) == ""
        assert pool.decide("c3", "out", by="ben", base_number=0, met=met[:1]) == ""
        assert [row.case for row in Marks(opened.study, store, lambda: AT).cases()] == ["c1", "c2"]
    drawn = prepare(opened).drawn
    assert drawn.lost == {
        "nobody decided": 1,
        "not: The details are complete.": 1,
    }, "without another 'konsil screen'"
    assert drawn.size == 2
    assert not screen_items(opened).new, "it says what stands already"
    with opened.store() as store:
        marks = Marks(opened.study, store, lambda: AT)
        for seen, (kind, words) in enumerate(
            (("diagnosis", "measles"), ("cue", "rash"), ("cue", "Fever"), ("cue", "cough"))
        ):
            assert (
                marks.change(
                    "c1", {"do": "add", "kind": kind, "words": words}, by="ada", base_number=seen
                )
                == ""
            )
        assert marks.change("c1", {"do": "approve"}, by="ben", base_number=4) == ""
    masked = mask_cases(opened)
    assert masked.n_done == 1
    with opened.store() as store:
        texts = {item.id: item.text for item in store.items() if item.case == "c1"}
        assert (
            Marks(opened.study, store, lambda: AT).change(
                "c1", {"do": "undo"}, by="ada", base_number=5
            )
            == "made"
        )
        assert store.verify_log() == ()
    assert texts["c1:3"] == "[…] and a dry […], then a […]; it was […]."
    assert screen_items(opened).screened.out == {
        "nobody decided": ["c4"],
        "not: The details are complete.": ["c3"],
    }


def test_a_rater_is_no_curator(folder: Path) -> None:
    opened = open_folder(folder)
    with pytest.raises(StudyError, match="'r1' is a rater of the study"):
        invitations.invite(
            opened, InvitationRequest(who=("r1",), role="curator", url="http://x", days=1)
        )
    [link] = invitations.invite(
        opened, InvitationRequest(who=("dr-berg",), role="curator", url="http://x", days=1)
    )
    assert link.url.startswith("http://x/come/")


def test_a_table_and_the_pages_are_one_mechanism(folder: Path) -> None:
    opened = open_folder(folder)
    table = folder / "t.csv"
    table.write_text("item,decision\nc1,keep\nc2,too short\n", "utf-8")
    screen_items(opened, ScreeningRequest(decisions=table))
    with opened.store() as store:
        pool = Pool(opened.study, store, lambda: AT)
        assert [pool.stand().of(f"c{n}") for n in range(1, 5)] == [
            "kept",
            "out",
            "undecided",
            "undecided",
        ]
        assert pool.decide("c2", "keep", by="ada", base_number=2, met=pool.spec.criteria) == ""  # type: ignore[union-attr]
        assert pool.decide("c1", "undo", by="ada", base_number=1) == ""
    assert prepare(opened).drawn.lost == {"nobody decided": 3}
    table.write_text("item,decision\nc2,too short\nc1,keep\n", "utf-8")
    screen_items(opened, ScreeningRequest(decisions=table))
    assert prepare(opened).drawn.lost == {"nobody decided": 2, "too short": 1}
    with opened.store() as store:
        assert (
            Pool(opened.study, store, lambda: AT).decide(
                "c1", "out", by="a", base_number=5, reason="too long"
            )
            == ""
        )
    with pytest.raises(PlanError, match="all 4 items were excluded"):
        prepare(opened)


def test_pages_are_served_before_there_is_a_plan(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Otherwise nobody could decide what the plan is to be drawn of."""
    served: list[str] = []

    def serve(study: Study, *_: object, started: Callable[[], None], **__: object) -> None:
        started()
        served.append(study.title)

    monkeypatch.setattr("konsil.web.app.serve.serve", serve)
    main(["serve", str(folder)])
    assert served == ["Curated"]
    assert "nothing to rate yet" in capsys.readouterr().out
    assert is_being_prepared(open_folder(folder))
    # A study without anything to prepare is told as before why there is no plan.
    text = (folder / "study.toml").read_text("utf-8")
    (folder / "study.toml").write_text(
        text[: text.index("[prepare.screen]")] + text[text.index("[[plan]]") :], "utf-8"
    )
    assert not is_being_prepared(open_folder(folder))


@pytest.mark.slow
def test_the_office_stands_without_a_plan(folder: Path) -> None:
    opened = open_folder(folder)
    with (
        opened.store() as store,
        TestClient(create_app(opened.study, store), base_url="http://127.0.0.1:8000") as client,
    ):
        for who, role, path in (
            ("chief", "owner", "/office"),
            ("dr-berg", "curator", "/"),
            ("r1", "rater", "/next"),
        ):
            [link] = invitations.invite(
                opened, InvitationRequest(who=(who,), role=role_of(role), url="", days=9999)
            )
            headers = {"origin": "http://127.0.0.1:8000"}
            assert client.post(link.url, headers=headers).status_code == 200
            assert client.get(path).status_code == 200, who
            if role == "owner":
                for page in ROUTES:
                    if (
                        page.method == "GET"
                        and not isinstance(page.audience, Public)
                        and role in page.audience
                    ):
                        assert client.get(page.path).status_code == 200, page.name
            client.cookies.clear()
