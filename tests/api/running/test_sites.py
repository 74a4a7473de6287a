"""Sites at the command line: who is tied, what is refused, and estimates by site."""

from __future__ import annotations

from pathlib import Path

import pytest

from konsil.api.folder.folder import Folder, open_folder
from konsil.api.running.invitations import invite
from konsil.api.running.requests import InvitationRequest
from konsil.errors import StudyError
from konsil.store.engine.engine import reading
from konsil.store.people.sites import sites_of

STUDY = """
schema = 1
title = "Is the answer correct?"
seed = 1
systems = [{ id = "model-a" }]
raters = [
  { id = "r1", panel = "experts", strata = { site = "Kiel" } },
  { id = "r2", panel = "experts", strata = { site = "Ulm" } },
]

[[instruments]]
id = "correctness"
codebook = "codebook.md"
criteria = [{ id = "correct", question = "Is it correct?", scale = { labels = ["no", "yes"] } }]

[[sources]]
file = "items.csv"
records = "items"

[[sources]]
file = "ratings.csv"
records = "ratings"

[[analyses]]
name = "correct-by-site"
statistic = "share"
of = "yes"
criterion = "correct"
raters = "experts"
by = ["site"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "codebook.md").write_text("Correct is what holds.")
    items = [f"q{n}" for n in range(6)]
    (tmp_path / "items.csv").write_text("item,text\n" + "".join(f"{i},Why?\n" for i in items))
    rows = [
        f"{rater},{item},model-a,correct,{'yes' if n < yes else 'no'}\n"
        for rater, yes in (("r1", 4), ("r2", 2))
        for n, item in enumerate(items)
    ]
    header = "rater,item,system,criterion,label\n"
    (tmp_path / "ratings.csv").write_text(header + "".join(rows))
    (tmp_path / "answers.csv").write_text("")
    opened = open_folder(tmp_path)
    opened.import_sources()
    return opened


def sites(folder: Folder, who: str) -> frozenset[str]:
    with folder.store() as store, reading(store.engine) as connection:
        return sites_of(connection, "staff", who)


def test_coordinators_are_tied_and_untied(folder: Folder) -> None:
    for stated, expected in (
        (("Kiel",), {"Kiel"}),
        ((), {"Kiel"}),
        (("Kiel", "Ulm"), {"Kiel", "Ulm"}),
        (("*",), set()),
    ):
        invite(folder, InvitationRequest(who=("Ada May",), role="coordinator", site=stated))
        assert sites(folder, "staff-1") == expected, stated


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"who": ("lead",), "role": "owner", "site": ("Kiel",)}, "sites are stated for coordin"),
        ({"who": ("r1",), "site": ("Kiel",)}, "the characteristic 'site' in study.toml"),
        ({"who": ("c",), "role": "coordinator", "site": ("Kile",)}, "did you mean 'Kiel'"),
        ({"who": ("c",), "role": "coordinator", "site": ("*", "Kiel")}, "stands alone"),
    ],
)
def test_what_cannot_be_stated(folder: Folder, stated: dict[str, object], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        invite(folder, InvitationRequest(**stated))  # type: ignore[arg-type]


def test_estimates_by_site(folder: Folder) -> None:
    """4 of 6 answers are correct for the rater of Kiel, 2 of 6 for that of Ulm."""
    rows = folder.results().rows
    values = {dict(row.group).get("site"): row.estimate.value for row in rows}
    assert values["Kiel"] == pytest.approx(4 / 6)
    assert values["Ulm"] == pytest.approx(2 / 6)
