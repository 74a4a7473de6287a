"""Letters of a study that is being served: raters come while other letters are still under way."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session
from starlette.testclient import TestClient

from konsil.api.folder.folder import DATABASE, Folder, open_folder
from konsil.letters.bounces import read_bounces
from konsil.letters.sending import send_letters
from konsil.store import Store
from konsil.store.people.letters import letters
from konsil.store.people.people import people
from konsil.web.app.app import create_app
from konsil.web.site.site import Options
from mail_servers import ADA, BEN, EVA, URL, Day, Post, report, write_mail
from store.conftest import new_database, server  # noqa: F401  a fixture

from .conftest import invited_study
from .test_bounces import box


@dataclass
class Impatient(Post):
    """A mail server whose users open each letter's link before the sender has its reply."""

    app: object = None
    pages: list[tuple[int, str]] = field(default_factory=list)
    """Status and path of the page to which each link leads."""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        reply = await super().handle_DATA(server, session, envelope)
        [link] = re.findall(rf"{URL}(/come/\S+)", self.letters[-1][1].get_content())
        with TestClient(self.app, base_url=URL) as client:  # type: ignore[arg-type]
            response = client.post(link, headers={"origin": URL})
        self.pages.append((response.status_code, response.url.path.rpartition("/")[0]))
        return reply


@pytest.fixture(params=["sqlite", "postgresql"])
def study(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Folder:
    """Three invited raters, in a database of either kind."""
    url = ""
    if request.param == "postgresql":
        url = new_database(request.getfixturevalue("server"))
        monkeypatch.setenv(DATABASE, url)
    (tmp_path / "study").mkdir()
    invited_study(tmp_path / "study")
    assert (tmp_path / "study" / "konsil.db").exists() == (not url)
    return open_folder(tmp_path / "study")


@pytest.mark.slow
def test_letters_are_sent_while_the_study_is_served(
    study: Folder, serve: Callable[..., Post], day: Day
) -> None:
    with study.store() as opened:
        place = opened.engine.url.render_as_string(hide_password=False)
    with Store.open(place, create=False) as served:
        app = create_app(study.study, served, Options(url=URL))
        post = Impatient(app=app)
        serve(post)
        write_mail(study.path, post.port, "remind_after_days = [3, 7]")
        sent = send_letters(study, clock=day)
        assert [(o.rater, o.state) for o in sent.outcomes] == [
            (rater, "sent") for rater in ("r1", "r2", "r3")
        ]
        assert post.pages == [(200, "/task")] * 3
        assert {a for a, _ in post.letters} == {ADA.email, BEN.email, EVA.email}
        # Nothing is sent twice, and a bounce is noted beside the pages.
        assert send_letters(study, clock=day).outcomes == ()
        [message_id] = [m["Message-ID"] for address, m in post.letters if address == ADA.email]
        read = box(study, report(message_id, ADA.email))
        assert read_bounces(study, read).raters == ("r1",)
        assert people(served)["r1"].failing
        assert [r.state for r in letters(served)["r2"]] == ["sent"]
        assert served.verify_log() == ()
