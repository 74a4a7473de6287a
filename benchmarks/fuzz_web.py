"""Inputs for the pages and for kits' answers behind their signature: forms that a page has,
changed, and sent.

A served study is made anew every ROUND inputs, whoever may come signed in; its records grow with
what was taken in. So input 1,234 is made and sent again by starting at 1,200. After each input
everything stored must be what the protocol allows: labels of its scales, finite times, texts
without control characters, and no rater or role that nobody named."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import random
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient

from konsil.api import Folder, open_folder
from konsil.api.running.kits import make_kit
from konsil.errors import KonsilError
from konsil.records import Rating
from konsil.rehearse.forms import Form, forms
from konsil.store.engine.engine import reading
from konsil.store.people.access import GUEST, Access, role_of
from konsil.store.release import kits
from konsil.web.app.app import create_app
from konsil.web.app.routes import ROUTES
from konsil.web.kit.kit_answers import take_in
from konsil.web.site.site import Options

ROUND = 100
AT = "2025-03-01T12:00:00Z"
URL = "http://testserver"
ROLES = ("rater", "rater", "rater", "curator", "coordinator", "analyst", "owner")
STUDY = """
title = "Served"
seed = 3
[[instruments]]
id = "form"
codebook = "Is it right?"
[[instruments.criteria]]
id = "correct"
question = "Is it correct?"
scale = { labels = ["no", "yes"], abstain = "unsure" }
reason = true
[[instruments.criteria]]
id = "share"
question = "How much of it?"
scale = { kind = "number", low = 0, high = 100 }
[[instruments.criteria]]
id = "words"
question = "Anything else?"
scope = "task"
scale = { kind = "text" }
[[systems]]
id = "a"
[[raters]]
id = "p1"
panel = "people"
[[raters]]
id = "p2"
panel = "people"
[[plan]]
panel = "people"
instrument = "form"
batches = 2
[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"
[prepare.screen]
undecided = "kept"
rules = ["follow-up"]
"""
JOINED = """
title = "With places"
seed = 5
blinded = true
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "correct"
question = "Is it correct?"
scale = { labels = ["no", "yes"] }
[[systems]]
id = "a"
[[raters]]
id = "p1"
panel = "people"
[[raters]]
id = "p2"
panel = "people"
[[places]]
panel = "others"
number = 4
strata = { ward = "north" }
[enrolment]
consent = "I take part of my own accord."
withdrawn = "exclude"
[[enrolment.eligibility]]
id = "licensed"
question = "Are you licensed?"
scale = { labels = ["no", "yes"] }
admits = ["yes"]
[[enrolment.profile]]
id = "ward"
question = "Your ward?"
scale = { labels = ["north", "south"], abstain = "rather not" }
[[enrolment.profile]]
id = "years"
question = "How many years?"
scale = { kind = "number", low = 0, high = 60 }
[adjudication]
panel = "people"
[[plan]]
panel = "people"
instrument = "form"
[[plan]]
panel = "others"
instrument = "form"
[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"
"""
"""Consent, eligibility, profile, places and adjudication."""
CASES = """
title = "Cases"
seed = 3
[[instruments]]
id = "form"
criteria = [{ id = "correct", question = "?", scale = { labels = ["no", "yes"] } }]
[[systems]]
id = "a"
[[raters]]
id = "p1"
panel = "people"
[[raters]]
id = "p2"
panel = "people"
[[plan]]
panel = "people"
instrument = "form"
[[sources]]
file = "items.csv"
records = "items"
[prepare.mask]
"""
"""Cases that are marked."""
WORDED = CASES.replace("[prepare.mask]", '[prepare.rewrite]\nmodel = "fake:seed=4"')
"""Questions that a model has worded anew."""
STUDIES = (STUDY, JOINED, CASES, STUDY, JOINED, WORDED)
"""A round has one of them, in turn."""
LABELS = {"correct": {"no", "yes"}}
WORDS = (
    "",
    " ",
    "\0",
    "\x1b[2J",
    "\u202e",
    "\ufeff",
    "a\r\nb",
    "<script>x</script>",
    "NaN",
    "inf",
    "-1",
    "1e999",
    "9" * 400,
    "x" * 30_000,
    "../../etc/passwd",
    "p1",
    "owner",
    "a" * 64,
    "\U0001f600",
    "=1+1",
    "q0",
    "{}",
    "1,000",
)
JSON = (None, True, -1, 10**400, 1.5, float("nan"), [], {}, [[]], {"a": [{}]}, "\ud800", *WORDS)


def _prepared(folder: Folder, study: str) -> None:
    """What precedes the pages: items screened, questions worded anew, tasks planned; cases wait for
    marks."""
    from konsil.api.curation.preparing import prepare
    from konsil.api.curation.rewriting import rewrite_items
    from konsil.api.curation.screening import screen_items
    from konsil.api.running.planning import make_plan

    if study == STUDY:
        screen_items(folder)
        prepare(folder)
    if study == WORDED:
        rewrite_items(folder)
    if study in (STUDY, JOINED):
        make_plan(folder)


JOINING = ("/consent", "/eligibility", "/profile", "/place", "/link", "/adjudication", "/ratings")
WORK = {CASES: "/office/cases", WORDED: "/office/rewriting", JOINED: "/office/enrolment"}
"""Pages that a study is there for."""


class Served:
    """A study that is served in this process."""

    def __init__(self, study: str = STUDY) -> None:
        self.study = study
        self._folder = Path(tempfile.mkdtemp())
        (self._folder / "study.toml").write_text(study, "utf-8")
        if study == CASES:
            rows = [
                f"q{n},Cough. Biopsy had granulomas: sarcoidosis {n}.,sarcoidosis {n}"
                for n in range(8)
            ]
        else:
            rows = [f"q{n},Why {n}?,So" for n in range(8)]
            answers = [f"q{n},a,So {n}." for n in range(8)]
            (self._folder / "answers.csv").write_text("\n".join(["item,system,text", *answers]))
        (self._folder / "items.csv").write_text("\n".join(["item,text,reference", *rows]))
        folder = open_folder(self._folder)
        folder.import_sources()
        _prepared(folder, study)
        self.kit = make_kit(folder, "p2")[0] if study == STUDY else None
        self._opened = folder.store()
        self.store = self._opened.__enter__()
        options = Options(
            url=URL, posts_a_minute=10**9, tries_a_minute=10**9, volunteers_a_minute=10**9
        )
        self.app = create_app(folder.study, self.store, options)
        self.raters = {r.id for r in self.store.raters()}
        self.has_places = bool(folder.study.places)
        self.clients: dict[str, TestClient] = {}
        for role in sorted({*ROLES}):
            self.clients[role] = self._enter("p1" if role == "rater" else f"staff-{role}", role)
        if study == JOINED:
            self._differ()
            self.clients["rater 2"] = self._enter("p2", "rater")
            for _ in ("consent", "eligibility", "profile"):
                self._pass_gate(self.clients["rater"])
            self.clients["volunteer"] = self._enter("", "rater")

    def _pass_gate(self, client: TestClient) -> None:
        """Fill in the page that comes before the first task as somebody who may take part."""
        found = [form for form in forms(client.get("/next").text) if form.action in JOINING]
        fields = [*found[0].hidden.items(), *found[0].buttons[:1]]
        fields += [
            (name, offered[-1] if offered else "9") for name, offered in found[0].options.items()
        ]
        assert (
            client.post(found[0].action, data=dict(fields), headers={"origin": URL}).status_code
            == 200
        )

    def _differ(self) -> None:
        """On two items the two raters differ, and look at them once more."""
        found: list[Rating] = []
        for task in self.store.tasks():
            if task.rater in ("p1", "p2") and task.item in ("q0", "q1"):
                label = "yes" if task.rater == "p1" else "no"
                found.append(
                    Rating(
                        task.id, task.rater, "correct", task.item, task.answers, label=label, at=AT
                    )
                )
        self.store.revise(found, at=AT, event_id="differ")
        self.clients["owner"].post(
            "/office/adjudication", data={"csrf": self._csrf("owner")}, headers={"origin": URL}
        )

    def _csrf(self, who: str) -> str:
        page = self.clients[who].get("/office")
        return next(form.hidden["csrf"] for form in forms(page.text) if "csrf" in form.hidden)

    def _enter(self, who: str, role: str) -> TestClient:
        now = datetime.now(UTC)
        at, until = (t.strftime("%Y-%m-%dT%H:%M:%SZ") for t in (now, now + timedelta(days=30)))
        secret = Access(self.store).invite(who, role_of(role), at=at, expires_at=until)
        client = TestClient(self.app, base_url=URL)
        client.post(f"/come/{secret}", headers={"origin": URL})
        return client

    def close(self) -> None:
        """Forget it and its folder."""
        for client in self.clients.values():
            client.close()
        self._opened.__exit__(None, None, None)
        shutil.rmtree(self._folder)

    def check(self) -> None:
        """Raise an AssertionError where something is stored that was not meant; the next input gets
        a new study."""
        try:
            self._check()
        except AssertionError:
            _forget()
            raise

    def _check(self) -> None:
        for rating in self.store.ratings():
            named = rating.rater in self.raters or (
                self.has_places and rating.rater.startswith(GUEST)
            )
            assert named, f"a rating of {rating.rater!r}"
            assert rating.label is None or rating.label in LABELS.get(
                rating.criterion, {rating.label}
            ), rating.label
            if rating.criterion == "share" and rating.label is not None:
                assert 0 <= float(rating.label) <= 100, rating.label
            assert rating.seconds is None or 0 <= rating.seconds < 1e8, rating.seconds
        with reading(self.store.engine) as connection:
            columns = sa.inspect(connection)
            for table in columns.get_table_names():
                for row in connection.execute(sa.text(f'SELECT * FROM "{table}"')):
                    for name, value in row._mapping.items():
                        assert not isinstance(value, str) or "\0" not in value, (
                            f"{table}.{name}: {value[:60]!r}"
                        )
                        assert not isinstance(value, float) or math.isfinite(value), (
                            f"{table}.{name}: {value}"
                        )


_open = contextlib.ExitStack()
_served: list[Any] = []


def served(number: int, study: str = "") -> Served:
    """The study that this input is sent to: one of its own, or that of the input's round."""
    study = study or STUDIES[number // ROUND % len(STUDIES)]
    if TestClient.portal is None:
        TestClient.portal = _open.enter_context(start_blocking_portal())
        _open.callback(setattr, TestClient, "portal", None)
    if not _served or _served[0] != (number // ROUND, study):
        _forget()
        _served[:] = [(number // ROUND, study), Served(study)]
    return _served[1]  # type: ignore[no-any-return]


def _forget() -> None:
    if _served:
        _served[1].close()
        _served.clear()


def close() -> None:
    """End what was served, and the thread of its requests."""
    _forget()
    _open.close()


def make_post(rng: random.Random) -> bytes:
    """What a visitor does: who it is, which page, which of its forms, and what is changed in it."""
    return json.dumps({"role": rng.choice(ROLES), "seed": rng.getrandbits(40)}).encode()


def read_post(path: Path, number: int) -> None:
    """Send it; a status of 500 or more, or anything stored that was not meant, is a fault."""
    told = json.loads(path.read_text())
    rng, site = random.Random(told["seed"]), served(number)
    role = told["role"]
    if role == "rater" and site.study in (CASES, WORDED):  # there is nothing to rate yet
        role = rng.choice(("curator", "coordinator", "owner"))
    who = (
        role
        if role != "rater"
        else rng.choice([name for name in site.clients if name == "rater" or name not in ROLES])
    )
    client = site.clients[who]
    page = client.get(_somewhere(rng, role, site))
    # Lists lead to the pages that have forms.
    links = [
        unescape(link)
        for link in re.findall(r'href="(/[^"]*)"', page.text)
        if not link.startswith("/static/")
    ]
    if links and rng.random() < 0.6:
        page = client.get(rng.choice(links))
    found = [
        form for form in forms(page.text) if form.action.startswith("/") and _is_of_page(rng, form)
    ]
    if not found or rng.random() < 0.15:
        route = rng.choice(
            [page for page in ROUTES if page.method == "POST" and page.name != "leave"]
        )
        action = _filled(rng, route.path)
        csrf = next((form.hidden["csrf"] for form in forms(page.text) if "csrf" in form.hidden), "")
        fields = [
            ("csrf", csrf),
            *((rng.choice(("who", "text", "visit", "rater", "item")), rng.choice(WORDS)),) * 2,
        ]
    else:
        form = rng.choice(found)
        action, fields = form.action, _answers(rng, form)
        if "save" in form.data and rng.random() < 0.4:
            _finish(
                client.post(form.data["save"], content=_message(rng, form), headers=_headers(form)),
                site,
            )
            return
    headers = {"origin": URL, "content-type": "application/x-www-form-urlencoded"}
    from urllib.parse import quote_plus, urlencode

    body = urlencode(fields, errors="surrogatepass").encode()
    if rng.random() < 0.1:
        at = rng.randrange(len(body) + 1)
        body = (
            body[:at]
            + rng.choice(
                (b"\xff", b"%ff%fe", b"&&&", b"=", b"%00", b";", quote_plus("\u202e").encode())
            )
            + body[at:]
        )
    if rng.random() < 0.03:
        headers["content-type"] = rng.choice(
            ("text/plain", "multipart/form-data", "multipart/form-data; boundary=x")
        )
    _finish(client.post(action, content=body, headers=headers), site)


def _is_of_page(rng: random.Random, form: Form) -> bool:
    """Whether it is what a page is there for; the form that every page has for its language seldom
    is."""
    if form.action in (
        "/leave",
        "/ratings",
    ):  # the one ends the visit, the other only asks for a page
        return False
    if form.action == "/consent" and rng.random() < 0.7:  # who has withdrawn meets no other form
        return False
    return form.action != "/language" or rng.random() < 0.05


def _finish(answer: Any, site: Served) -> None:
    assert answer.status_code < 500, f"status {answer.status_code}"
    site.check()
    if answer.status_code >= 400:
        raise KonsilError(f"status {answer.status_code}")


def _somewhere(rng: random.Random, role: str, site: Served) -> str:
    if role == "rater" and rng.random() < 0.8:
        return rng.choice(("/next", "/next", *JOINING)) if site.has_places else "/next"
    if role != "rater" and site.study in WORK and rng.random() < 0.6:
        return WORK[site.study]
    page = rng.choice(
        [
            p
            for p in ROUTES
            if p.method == "GET" and not isinstance(p.audience, type(ROUTES[0].audience))
        ]
    )
    return _filled(rng, page.path) + rng.choice(
        ("", "", "?item=q1", "?rater=p1", "?case=c1&n=x", "?page=-1")
    )


def _filled(rng: random.Random, path: str) -> str:
    return re.sub(
        r"\{\w+\}", lambda _: rng.choice(("x", "q1", "a" * 32, "%00", "..%2f..", "p1")), path
    )


def _answers(rng: random.Random, form: Form) -> list[tuple[str, str]]:
    """The form filled in, then changed in up to three places."""
    fields = list(form.hidden.items())
    for name, offered in form.options.items():
        if rng.random() < 0.85:
            fields.append(
                (name, rng.choice(offered) if offered else rng.choice(("42", "because", *WORDS)))
            )
    if form.buttons:
        fields.append(rng.choice(form.buttons))
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(fields)) if fields else 0
        kind = rng.randrange(5)
        if not fields or kind == 0:
            fields.append(
                (rng.choice(("x", "", "~9", "correct", "~1.a1", "rater", "at")), rng.choice(WORDS))
            )
        elif kind in (1, 2) and fields[at][0] != "csrf":
            fields[at] = (fields[at][0], rng.choice(WORDS))
        elif kind == 3 and fields[at][0] != "csrf":
            del fields[at]
        else:
            fields.append((fields[at][0], rng.choice(WORDS)))
    return fields


def _headers(form: Form) -> dict[str, str]:
    return {
        "origin": URL,
        "x-csrf-token": form.hidden.get("csrf", ""),
        "accept": "application/json",
        "content-type": "application/json",
    }


def _message(rng: random.Random, form: Form) -> bytes:
    """An autosave, changed."""
    changes = [
        {
            "id": f"{rng.getrandbits(128):032x}",
            "field": name,
            "base_rev": 0,
            "at": "",
            "value": rng.choice(offered) if offered else rng.choice(WORDS),
        }
        for name, offered in form.options.items()
    ]
    times = {"wall": "12.5", "active": "10", "first_input": "1.5"}
    return changed(rng, {"changes": changes, "visit": form.hidden.get("visit", ""), **times})


def changed(rng: random.Random, tree: Any) -> bytes:
    """JSON with up to three values replaced, keys lost or parts doubled."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randrange(4)):
        node = tree
        while isinstance(node, dict | list) and node:
            key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
            if rng.random() < 0.3 or not isinstance(node[key], dict | list):
                if rng.random() < 0.15:
                    del node[key]
                else:
                    node[key] = copy.deepcopy(rng.choice(JSON))
                break
            node = node[key]
    if rng.random() < 0.01:
        return b"[" * 100_000
    return json.dumps(tree).encode()


def read_signed_kit(path: Path, number: int) -> None:
    """Take in answers that a kit would have signed, whatever they say."""
    told = json.loads(path.read_text())
    rng, site = random.Random(told["seed"]), served(number, STUDY)
    assert site.kit is not None
    kit = json.loads(
        unescape(
            re.findall(r'<script type="application/json" id="kit">(.*?)</script>', site.kit.html)[0]
        )
    )
    screens: dict[str, Any] = {}
    for screen in rng.sample(kit["screens"], k=rng.randrange(1, len(kit["screens"]) + 1)):
        names = re.findall(r'name="(~[\w.]+)"', screen.get("html", "")) or ["~1.a1", "~2.a1", "~3"]
        fields = [
            (name, rng.choice(("yes", "no", "42", "because", *WORDS)))
            for name in dict.fromkeys(names)
        ]
        first = rng.choice(("2.5", "", *WORDS))
        screens[screen["public"]] = {
            "base_rev": screen["rev"],
            "done": rng.choice(("", "2025-03-02T08:00:00.000Z")),
            "values": dict(fields),
            "changes": [
                {"id": f"{rng.getrandbits(128):032x}", "field": n, "value": v, "at": ""}
                for n, v in fields
            ],
            "visits": {
                f"{rng.getrandbits(128):032x}": {"wall": "40", "active": "30", "first_input": first}
            },
            "problems": [{"id": f"{rng.getrandbits(128):032x}", "text": rng.choice(WORDS)}],
        }
    inner = {
        "kit": kit["id"],
        "copy": secrets.token_hex(8),
        "revision": 1,
        "made_at": "",
        "screens": screens,
    }
    text = changed(rng, inner).decode()
    if f'"{kit["id"]}"' not in text:
        raise KonsilError("of no kit")
    outer = {
        "konsil": "kit answers",
        "format": 1,
        "signed": text,
        "mac": kits.signature(kit["key"], text),
    }
    try:
        take_in(site.app.state.site, json.dumps(outer), "answers.json")
    finally:
        site.check()


READ: dict[str, tuple[Callable[[random.Random], bytes], Callable[[Path, int], None]]] = {
    "pages": (make_post, read_post),
    "signed kit": (make_post, read_signed_kit),
}
