"""Nobody can tell systems apart by name: with their names exchanged, everything that is shown stays
the same.

Two studies are drawn that differ in one respect: which name belongs to which system. Keys are
chosen under which each system has the same letter in both. Whatever depends on a name, an order or
a digest of names included, then differs."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
import random
import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from exchanged_names import FORMS, MINTED, NAMES, SHARES
from konsil.api import Folder, open_folder
from konsil.api.running.preregistering import write_preregistration
from konsil.cli import main
from konsil.records import Call, CallKind
from konsil.stats.agreement.registry import STATISTICS
from konsil.store.calls.calls import Calls
from konsil.store.engine import schema
from konsil.store.engine.engine import writing
from konsil.study.data.blinding import Letters, letters

JUDGES = ("alpha-canary", "judge-canary-2")
"""One of them is a system itself."""

PROTOCOL = (
    FORMS
    + """\
[[sources]]
file = "answers.csv"
records = "answers"
[[sources]]
file = "ratings.csv"
records = "ratings"
fixed = { criterion = "correct" }
[[sources]]
file = "pairs.csv"
records = "ratings"
fixed = { criterion = "better" }
"""
    + SHARES
    + """\
[[analyses]]
name = "by judge"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "models"
by = ["rater", "system"]
[[analyses]]
name = "influence"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "models"
leave_out = ["rater_system", "rater", "item"]
prespecified = false
[[analyses]]
name = "wins"
statistic = "win_difference"
criterion = "better"
raters = "people"
[[tables]]
id = "wins"
title = "Wins by system"
analyses = ["by judge", "wins"]
rows = ["statistic"]
columns = ["system"]
[[figures]]
id = "wins"
title = "Wins by system"
analyses = ["wins"]
rows = ["system"]
[resampling]
draws = 100
"""
)


SOME = """[[analyses]]
name = "some"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "people"
where = {{ system = [{some}] }}
prespecified = false
[[analyses]]
name = "compared"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "people"
by = ["system"]
compare = "system"
test = "none"
prespecified = false
[[analyses]]
name = "relative"
statistic = "relative_difference"
of = ["yes"]
criterion = "correct"
raters = "people"
consensus = "majority"
by = ["system"]
reference = {{ system = "{first}" }}
prespecified = false
[[analyses]]
name = "relative to a family"
statistic = "relative_difference"
of = ["yes"]
criterion = "correct"
raters = "models"
consensus = "majority"
by = ["family"]
reference = {{ family = "family of {first}" }}
prespecified = false
[[tables]]
id = "some"
title = "Some by judge"
analyses = ["compared", "by judge"]
rows = ["analysis"]
columns = ["system"]
difference = [{some}]
"""


@dataclass(frozen=True)
class Drawn:
    """A study without the names of its systems: systems and judges are numbers."""

    systems: int
    answers: tuple[tuple[str, int, str], ...]
    """Item, system, text."""
    ratings: tuple[tuple[str, str, int, str], ...]
    """Rater (judges as "judge 0"), item, system, label."""
    pairs: tuple[tuple[str, str, int, int, str], ...]
    """Rater, item, both systems in the order shown, label."""
    calls: tuple[tuple[CallKind, str, int, float, int], ...] = ()
    """Answer or judge, item, system or judge, seconds, tokens."""


def drawn(seed: int) -> Drawn:
    """A small study of three or four systems, some answers of which are missing."""
    draw = random.Random(seed)
    systems, items = draw.choice((3, 4)), [f"q{n}" for n in range(draw.randint(6, 12))]
    answers = [
        (i, s, f"text {draw.random():.6f}")
        for i in items
        for s in range(systems)
        if draw.random() < 0.9
    ]
    raters = ["dr-1", "dr-2", "judge 0", "judge 1"]
    ratings = [
        (r, i, s, draw.choice(("no", "yes", "unsure")))
        for r in raters
        for i, s, _ in answers
        if draw.random() < 0.8
    ]
    pairs = []
    for rater, item in itertools.product(raters[:2], items):
        shown = [s for i, s, _ in answers if i == item]
        if len(shown) > 1:
            pairs.append((rater, item, *draw.sample(shown, 2), draw.choice(("A", "same", "B"))))
    for records in (answers, ratings, pairs):
        draw.shuffle(records)
    asked: list[tuple[CallKind, str, int]] = [("answer", i, s) for i, s, _ in answers]
    asked += [("judge", f"{i}:{s}", int(r[-1])) for r, i, s, _ in ratings if r.startswith("judge")]
    calls = [(*one, draw.uniform(1, 9), draw.randint(5, 500)) for one in asked]
    return Drawn(systems, tuple(answers), tuple(ratings), tuple(pairs), tuple(calls))


def made(study: Drawn, names: Sequence[str], path: Path) -> Folder:
    """The study with these names, imported."""
    judges = {f"judge {n}": name for n, name in enumerate(JUDGES)}
    path.mkdir()
    text = 'title = "Blind"\nseed = 7\nblinded = true\njudges_of_same_family = "allow"\n'
    text += "".join(
        f'[[systems]]\nid = "{s}"\nfamily = "family of {s}"\n'
        for s in sorted(names[: study.systems])
    )
    text += "".join(f'[[raters]]\nid = "dr-{n}"\npanel = "people"\n' for n in (1, 2))
    text += "".join(
        f'[[raters]]\nid = "{j}"\npanel = "models"\nkind = "llm"\nstrata = {{ system = "{j}" }}\n'
        for j in sorted(JUDGES)
    )
    # As people list names: in the order of the alphabet, which the letters must not repeat.
    some = ", ".join(f'"{name}"' for name in sorted((names[0], names[study.systems - 1])))
    forms = PROTOCOL.replace(
        "[resampling]", SOME.format(some=some, first=names[0]) + "[resampling]"
    )
    (path / "study.toml").write_text(text + forms, "utf-8")
    tables: Mapping[str, list[tuple[str, ...]]] = {
        "answers": [("item", "system", "text"), *((i, names[s], t) for i, s, t in study.answers)],
        "ratings": [
            ("rater", "item", "system", "label"),
            *((judges.get(r, r), i, names[s], label) for r, i, s, label in study.ratings),
        ],
        "pairs": [
            ("rater", "item", "system_a", "system_b", "label"),
            *((r, i, names[a], names[b], label) for r, i, a, b, label in study.pairs),
        ],
    }
    for name, rows in tables.items():
        with (path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    folder = open_folder(path)
    folder.import_sources()
    models: Mapping[CallKind, Sequence[str]] = {"answer": names, "judge": JUDGES}
    with folder.store() as store:
        Calls(store).add(
            [
                Call(
                    f"w{n}",
                    1,
                    kind,
                    models[kind][who],
                    subject,
                    "k",
                    "hosted",
                    models[kind][who],
                    "ok",
                    1,
                    200,
                    usage={"in": tokens, "out": tokens},
                    cost=tokens / 100,
                    seconds=seconds,
                    reply={"text": "x", "finish": "stop"},
                    at="2026-01-01T00:00:00Z",
                )
                for n, (kind, subject, who, seconds, tokens) in enumerate(study.calls)
            ]
        )
    return folder


def under_key(
    folder: Folder, names: Sequence[str], wanted: Sequence[str] | None
) -> tuple[str, ...]:
    """Give the database a key under which system n has the n-th letter wanted, and the judges 1 and
    2; any if None."""
    with folder.store() as store:
        raters, answers = store.raters(), store.answers()

        def under(key: bytes) -> tuple[str, ...]:
            found: Letters = letters(folder.study, raters, answers, key)
            return (*(found.systems[n] for n in names), *(found.judges[j] for j in JUDGES))

        keys = (n.to_bytes(16, "big") for n in itertools.count())
        key = next(key for key in keys if wanted is None or under(key) == tuple(wanted))
        with writing(store.engine) as connection:
            connection.execute(sa.insert(schema.meta).values(key="veil_key", value=key.hex()))
    return under(key)


def rows(path: Path) -> Counter[str]:
    """A table's rows without what follows from the key itself."""
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    ordered = [tuple(str(r.get(c, "")) for c in ("task", "id")) for r in records]
    assert ordered == sorted(ordered) or path.stem in ("items", "ratings")
    minted = MINTED if path.stem in ("tasks", "ratings") else ()
    return Counter(
        json.dumps({k: v for k, v in r.items() if k not in minted}, sort_keys=True) for r in records
    )


SHOWN = {".csv", ".json", ".html", ".docx", ".xlsx", ".tex", ".bbl", ".bib", ".qmd"}
"""Files of a report that are compared whole; pictures are drawn from the same numbers."""


def readable(file: Path) -> bytes:
    """A file's bytes; of an archive those of all that is in it."""
    if file.suffix not in (".docx", ".xlsx"):
        # LaTeX may break checksums at these.
        return file.read_bytes().replace(rb"\allowbreak{}", b"")
    with zipfile.ZipFile(file) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


DIGESTS = re.compile(rb"\b[0-9a-f]{16,}\b|\d{4}-\d\d-\d\dT[\d:]+Z")


def printed(folder: Folder, out: Path) -> dict[str, bytes]:
    """What the commands that show results print as JSON."""
    texts = {}
    for words in (["analyse", "--output", str(out / "numbers")], ["curation"]):
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            main([words[0], str(folder.path), *words[1:], "--json"])
        text = stream.getvalue()
        assert "canary" not in text
        assert json.loads(text)
        texts[words[0]] = DIGESTS.sub(b"-", text.replace(str(out), "").encode())
    return texts


def shown(folder: Folder, out: Path) -> dict[str, Any]:
    """All that is shown of a study.

    The export's tables, the records of a notebook, the report, the JSON of commands."""
    export = folder.export(out, "jsonl")
    page = folder.report(
        to=("docx", "latex", "markdown", "xlsx"),
        checklist=("grras", "tripod-llm", "chart", "data-statement"),
        figures=("png", "eps", "svg"),
        dpi=72,
    )
    registered = [out.with_name(f"{out.name}{end}") for end in (".md", ".docx")]
    write_preregistration(folder, registered)
    data = folder.data()
    notebook = {
        "answers": [repr(a) for a in data.answers],
        "raters": [repr(r) for r in data.raters],
        "tasks": sorted(repr((t.rater, t.item, t.answers, t.position)) for t in data.tasks),
        "usage": [repr(u) for u in data.usage],
        "ratings": sorted(
            repr((r.rater, r.item, r.answers, r.label, r.criterion)) for r in data.ratings
        ),
    }
    files = [p for place in (export, page.parent) for p in place.rglob("*") if p.is_file()]
    files += registered
    assert [p.name for p in files if b"canary" in readable(p)] == []
    tables = [p for p in sorted(page.parent.rglob("*")) if p.suffix in SHOWN]
    assert {p.suffix for p in tables} == SHOWN
    return {
        "export": {p.name: rows(p) for p in export.glob("*.jsonl")},
        "notebook": notebook,
        "report": {p.name: DIGESTS.sub(b"-", readable(p)) for p in tables},
        "preregistration": {p.suffix: DIGESTS.sub(b"-", readable(p)) for p in registered},
        "printed": printed(folder, out),
    }


def differing(seed: int, path: Path) -> list[str]:
    """What of a drawn study is shown otherwise when its systems exchange their names; `path` is an
    empty folder."""
    study = drawn(seed)
    names = NAMES[: study.systems]
    turned = tuple(random.Random(seed).sample(names[1:], len(names) - 1)) + names[:1]
    first = made(study, names, path / "first")
    under = under_key(first, names, None)
    second = made(study, turned, path / "second")
    under_key(second, turned, under)
    before, after = shown(first, path / "out-1"), shown(second, path / "out-2")
    assert "'K'" in before["notebook"]["usage"][0]
    found = [
        f"{place}: other files" for place in before if before[place].keys() != after[place].keys()
    ]
    return found + [
        f"{place}/{name}"
        for place, parts in before.items()
        for name in parts
        if name in after[place] and parts[name] != after[place][name]
    ]


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_names_exchanged_change_nothing_that_is_shown(seed: int, tmp_path: Path) -> None:
    assert differing(seed, tmp_path) == []


@pytest.mark.slow
def test_identifiers_cannot_be_made_again_from_names(tmp_path: Path) -> None:
    """What a task is called in the store is a digest that anybody can compute who tries all
    names."""
    folder = made(drawn(1), NAMES, tmp_path / "study")
    with folder.store() as store:
        stored = {t.id for t in store.tasks()} | {t.slot for t in store.tasks()}
    text = "".join(p.read_text("utf-8") for p in folder.export(tmp_path / "out", "jsonl").iterdir())
    assert stored and not [name for name in stored if name in text]
    assert not stored & {t.id for t in folder.data().tasks}
    assert {r.task for r in folder.data().ratings} == {t.id for t in folder.data().tasks}


def test_letters_follow_from_the_key_and_not_from_the_protocol(tmp_path: Path) -> None:
    folder = made(drawn(2), NAMES, tmp_path / "study")
    with folder.store() as store:
        raters, answers = store.raters(), store.answers()
    made_of = (letters(folder.study, raters, answers, bytes([n])).systems for n in range(60))
    orders = {tuple(systems[name] for name in sorted(systems)) for systems in made_of}
    assert len(orders) == 6


@pytest.mark.slow
def test_no_number_of_agreement_depends_on_what_systems_are_called(tmp_path: Path) -> None:
    """Which answer of a comparison is stored as A follows from the names: no statistic may
    notice."""
    study, numbers = drawn(3), []
    for n, names in enumerate((NAMES, (NAMES[2], NAMES[3], NAMES[0], NAMES[1]))):
        made(study, names, tmp_path / str(n))
        protocol = tmp_path / str(n) / "study.toml"
        analyses = "".join(
            f'[[analyses]]\nname = "{s}"\nstatistic = "{s}"\ncriterion = "better"\nraters ='
            ' "people"\n'
            for s in STATISTICS
            if not s.startswith("icc") or s == "icc2"
        )
        text = protocol.read_text("utf-8").replace("blinded = true\n", "")
        protocol.write_text(text.replace("[resampling]", analyses + "[resampling]"), "utf-8")
        rows_ = open_folder(tmp_path / str(n)).results().rows
        numbers.append(
            [
                (
                    r.statistic,
                    *(round(x, 10) for x in (r.estimate.value, r.estimate.low, r.estimate.high)),
                )
                for r in rows_
                if r.analysis in STATISTICS
            ]
        )
    assert len(numbers[0]) > 20
    assert list(map(str, numbers[0])) == list(map(str, numbers[1]))


def test_of_two_systems_kappa_is_that_of_the_labels_as_they_are(tmp_path: Path) -> None:
    """The same system is the first of every comparison, so that nothing is to be exchanged."""
    draw = random.Random(5)
    labels = {
        (r, i): draw.choice(("A", "A", "same", "B")) for r in ("dr-1", "dr-2") for i in range(30)
    }
    pairs = tuple((r, f"q{i}", 0, 1, label) for (r, i), label in labels.items())
    answers = tuple((f"q{i}", s, "text") for i in range(30) for s in (0, 1))
    ratings = tuple(("dr-1", f"q{i}", 0, "yes") for i in range(30))
    made(Drawn(2, answers, ratings, pairs), NAMES, tmp_path / "study")
    protocol = tmp_path / "study" / "study.toml"
    text, analyses = (
        protocol.read_text("utf-8").split("[[analyses]]", 1)[0],
        (
            '[[analyses]]\nname = "k"\nstatistic = "cohen_kappa"\ncriterion = "better"\nraters ='
            ' "people"\n[resampling]\ndraws = 100\n'
        ),
    )
    protocol.write_text(text + analyses, "utf-8")
    [row, *_] = open_folder(tmp_path / "study").results().rows
    first, second = ([labels[r, i] for i in range(30)] for r in ("dr-1", "dr-2"))
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / 30
    chance = sum(first.count(label) * second.count(label) for label in ("A", "same", "B")) / 30**2
    assert row.estimate.value == pytest.approx((agreed - chance) / (1 - chance))
