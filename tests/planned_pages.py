"""What blinded people see of a planned study that is being rated stays the same when systems
exchange their names.

Tasks show the same texts in the same order in both studies and are called as the plan calls them,
by a digest in which names are; raters rate on their pages. Secrets are drawn alike, so that nothing
in what is shown has to be left out but the time on the wall."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import random
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import sqlalchemy as sa
from starlette.testclient import TestClient

from exchanged_names import FORMS, MINTED, NAMES, SHARES
from konsil.api import Folder, open_folder
from konsil.api.folder.labelstudio import export_tasks
from konsil.api.running.kits import make_kit
from konsil.records import Task
from konsil.rehearse.forms import forms
from konsil.store import Batch
from konsil.store.engine import schema
from konsil.store.engine.engine import reading, writing
from konsil.store.log.entries import read_entries
from konsil.store.people.access import Access, role_of
from konsil.study.data.blinding import letters
from konsil.web.app.app import create_app
from konsil.web.site.site import Options

AT = "2025-03-01T12:00:00Z"
NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
URL = "http://testserver"
RATERS = ("dr-1", "dr-2", "dr-3")
PROTOCOL = (
    """
title = "Blind"
seed = 7
blinded = true
"""
    + FORMS
    + """\
[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"
[[plan]]
panel = "people"
instrument = "answers"
batches = 2
[[plan]]
panel = "people"
instrument = "pairs"
show = "pair"
"""
    + SHARES
    + """\
[resampling]
draws = 100
"""
)


@contextmanager
def secrets_drawn_alike(seed: int) -> Iterator[None]:
    """Secrets follow from a number: two studies have the same ones, wherever they are drawn at the
    same moment."""
    draw = random.Random(seed)
    with ExitStack() as stack:
        for name, make in {
            "token_hex": lambda n=16: draw.randbytes(n).hex(),
            "token_urlsafe": lambda n=16: draw.randbytes(n).hex()[: n * 4 // 3],
            "token_bytes": lambda n=16: draw.randbytes(n),
        }.items():
            stack.enter_context(mock.patch.object(secrets, name, make))
        yield


def planned(
    seed: int, names: Sequence[str], path: Path, wanted: Sequence[str] | None
) -> tuple[Folder, tuple[str, ...]]:
    """A planned study whose system n has the n-th name; its letters."""
    draw = random.Random(seed)
    n_systems, items = draw.choice((3, 4)), [f"q{n}" for n in range(draw.randint(4, 6))]
    names = names[:n_systems]
    path.mkdir()
    text = PROTOCOL + "".join(
        f'[[systems]]\nid = "{s}"\nfamily = "family of {s}"\n' for s in sorted(names)
    )
    text += "".join(f'[[raters]]\nid = "{r}"\npanel = "people"\n' for r in RATERS)
    (path / "study.toml").write_text(text, "utf-8")
    rows = [(i, names[s], f"text {draw.random():.6f}") for i in items for s in range(n_systems)]
    for name, head, body in (
        ("items", ("item", "text"), [(i, f"Why {i}?") for i in items]),
        ("answers", ("item", "system", "text"), rows),
    ):
        with (path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([head, *body])
    folder = open_folder(path)
    folder.import_sources()
    under = under_key(folder, names, wanted)
    with folder.store() as store:
        answers = {(a.item, a.system): a.id for a in store.answers()}
        tasks, known = [], {r.id: r for r in folder.study.raters}
        for rater in RATERS:
            shuffled = draw.sample(items, len(items))
            for position, (form, item) in enumerate(
                itertools.product(("answers", "pairs"), shuffled)
            ):
                order = draw.sample(range(n_systems), 2 if form == "pairs" else n_systems)
                shown = tuple(answers[item, names[s]] for s in order)
                token = hashlib.blake2b(
                    repr((7, rater, form, item, shown)).encode(), digest_size=8
                ).hexdigest()
                batch = f"{1 + (position >= len(items) // 2)}" if form == "answers" else ""
                tasks.append(
                    Task(token, rater, rater, form, item, shown, batch=batch, position=position)
                )
        store.add(Batch(raters=[known[r] for r in RATERS], tasks=tasks), source="plan", at=AT)
    return folder, under


def under_key(
    folder: Folder, names: Sequence[str], wanted: Sequence[str] | None
) -> tuple[str, ...]:
    """Give the database a key under which system n has the n-th letter wanted; any if None."""
    with folder.store() as store:
        raters, answers = store.raters(), store.answers()

        def under(key: bytes) -> tuple[str, ...]:
            found = letters(folder.study, raters, answers, key)
            return tuple(found.systems[n] for n in names)

        keys = (n.to_bytes(16, "big") for n in itertools.count())
        key = next(key for key in keys if wanted is None or under(key) == tuple(wanted))
        with writing(store.engine) as connection:
            connection.execute(sa.insert(schema.meta).values(key="veil_key", value=key.hex()))
    return under(key)


def clock() -> Callable[[], datetime]:
    """Every look at it is a second later: no two things happen at one time."""
    seconds = itertools.count()
    return lambda: NOW + timedelta(seconds=next(seconds))


def entered(app: Any, access: Access, who: str, role: str) -> TestClient:
    client = TestClient(app, base_url=URL)
    secret = access.invite(who, role_of(role), at=AT, expires_at="2025-04-01T00:00:00Z")
    client.post(f"/come/{secret}", headers={"origin": URL})
    return client


def rated(client: TestClient, draw: random.Random, n: int) -> Iterator[str]:
    """Each page of a rater who fills in and hands in so many."""
    for _ in range(n):
        page = client.get("/next")
        yield page.text
        [form] = [f for f in forms(page.text) if "save" in f.data] or [None]
        if form is None:
            return
        fields = [*form.hidden.items(), *form.buttons[:1]]
        fields += [
            (name, draw.choice(offered)) for name, offered in form.options.items() if offered
        ]
        sent = client.post(form.action, data=dict(fields), headers={"origin": URL})
        assert sent.status_code == 200, sent.text[-500:]


def seen(folder: Folder, out: Path, seed: int) -> dict[str, str]:
    """Everything that blinded people see: raters' and analysts' pages, kits, tasks for Label
    Studio, the log."""
    found: dict[str, str] = {}
    draw = random.Random(seed)
    with secrets_drawn_alike(seed), folder.store() as store:
        app = create_app(folder.study, store, Options(url=URL), clock=clock())
        access = Access(store)
        for rater, n in (("dr-1", 99), ("dr-2", 4)):
            with entered(app, access, rater, "rater") as client:
                found |= {
                    f"{rater}, page {k}": text for k, text in enumerate(rated(client, draw, n))
                }
                assert len(found) > 3
                for page in ("/ratings", "/ratings?form=pairs", "/next"):
                    found[f"{rater} {page}"] = client.get(page).text
        with entered(app, access, "blind", "analyst") as client:
            overview = client.get("/office").text
            links = sorted(set(re.findall(r'href="(/office[^"#]*)"', overview)))
            assert len(links) > 2
            found |= {f"analyst {link}": client.get(link).text for link in ("/office", *links)}
    with secrets_drawn_alike(seed + 1):
        made, _ = make_kit(folder, "dr-3")
        found["kit"] = made.html
        export_tasks(folder, out / "label-studio")
    for place in sorted((out / "label-studio").rglob("*")):
        if place.is_file():
            found[f"label-studio/{place.relative_to(out / 'label-studio')}"] = place.read_text(
                "utf-8"
            )
    found |= files_and_notebook(folder, out)
    with folder.store() as store, reading(store.engine) as connection:
        entries = [(e.kind, e.who, e.records, e.why) for e in read_entries(connection)]
        found["log"] = "\n".join(map(repr, entries))
        stored = {t.id for t in store.tasks()} | {a.id for a in store.answers()}
    for name, text in found.items():
        named = [one for one in (*NAMES, *stored) if one in text]
        assert not named, f"{name}: {named}"
    return found


def files_and_notebook(folder: Folder, out: Path) -> dict[str, str]:
    """The export, the records of a notebook and the report; rows without what tasks are called, and
    so in no order."""
    found = {}
    for table in sorted(folder.export(out / "export", "jsonl").glob("*.jsonl")):
        records = [json.loads(line) for line in table.read_text("utf-8").splitlines()]
        minted = MINTED if table.stem in ("tasks", "ratings") else ()
        rows = [json.dumps({k: v for k, v in one.items() if k not in minted}) for one in records]
        found[f"export/{table.name}"] = "\n".join(sorted(rows))
    data = folder.data()
    found["notebook"] = repr((data.answers, data.raters, data.usage)) + repr(
        sorted((r.rater, r.item, r.answers, r.label, r.criterion) for r in data.ratings)
    )
    for file in sorted(folder.report().parent.rglob("*")):
        if file.suffix in (".html", ".csv", ".json"):
            found[f"report/{file.name}"] = file.read_text("utf-8")
    return found


TOKEN = re.compile(r"\b[0-9a-f]{12,}\b")
WALL = re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?")


def differing_pages(seed: int, path: Path) -> list[str]:
    """What of a planned study is seen otherwise when its systems exchange their names."""
    names = NAMES[: random.Random(seed).choice((3, 4))]
    turned = (*random.Random(seed).sample(names[1:], len(names) - 1), names[0])
    first, under = planned(seed, names, path / "first", None)
    second, _ = planned(seed, turned, path / "second", under)
    before, after = seen(first, path / "out-1", seed), seen(second, path / "out-2", seed)
    assert before.keys() == after.keys()
    plain, other = in_order(before), in_order(after)
    return [name for name in plain if plain[name] != other[name]]


def in_order(found: dict[str, str]) -> dict[str, str]:
    """Everything with secret tokens and digests called by their first appearance, and without the
    time on the wall."""
    numbers: dict[str, str] = {}
    return {
        name: TOKEN.sub(
            lambda m: numbers.setdefault(m[0], f"token {len(numbers)}"), WALL.sub("-", text)
        )
        for name, text in found.items()
    }
