"""The demo with a real model.

The model answers and judges on this machine; the rest of the panel is simulated.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.api.folder.folder import open_folder
from konsil.api.folder.opened import PROTOCOL
from konsil.api.rehearsal.rehearsal import report, simulate, truth_of
from konsil.collect.local.shipped_model import SHIPPED
from konsil.prepare.draw.lexical import folded
from konsil.records import Answer, Item
from konsil.store.engine.folders import copy_new

if TYPE_CHECKING:
    pass

JUDGE = "smollm2-judge"
PARAMETERS = "physicians.toml"
"""What the simulated part of the panel is drawn from."""
_LANGUAGE, _EACH, _WRITTEN = "en", 4, "system-a"
"""The demo's items that it takes: English ones, four of each specialty, with the answers of one
fictional system."""


def local_demo(target: Path, say: Callable[[str], None] = lambda _: None) -> Path:
    """Make the demo with the small model in a folder, or go on with one that was stopped.

    Gives the report's path.

    Raises a CollectError, before anything is made, where the model cannot be run.
    """
    from konsil.collect.jobs.judges import judge
    from konsil.collect.jobs.systems import answer
    from konsil.collect.local.local import must_run

    must_run(SHIPPED.id)
    with as_file(files("konsil.demo")) as demo:
        if not _ours(target, demo):
            copy_new(target, lambda draft: _copy(demo, draft))
        parameters = (demo / "local" / PARAMETERS).read_text("utf-8")
    folder = open_folder(target)
    folder.import_sources()
    say("the model answers 20 questions in two ways")
    with folder.store() as store:
        answer(folder.study, store)
        wrong = tuple(wrong_answers(store.items(), store.answers()))
        answers = store.answers()
    (target / PARAMETERS).write_text(with_answers(parameters, answers, wrong), "utf-8")
    simulate(folder, truth_of(folder, target / PARAMETERS), but=(JUDGE,))
    say("the model judges the answers")
    with folder.store() as store:
        judge(folder.study, store)
    return report(folder)


def wrong_answers(items: Iterable[Item], answers: Iterable[Answer]) -> Iterator[str]:
    """Answers with neither the item's reference nor another name of it, as far as words can tell.

    >>> item = Item("q", "Which hormone?", "Insulin", ("insulinum",))
    >>> list(wrong_answers([item], [
    ...     Answer("q:a", "q", "a", "It is insulin."), Answer("q:b", "q", "b", "Glucagon")
    ... ]))
    ['q:b']
    """
    names = {
        i.id: [re.escape(folded(n)) for n in (i.reference or "", *i.aliases) if n] for i in items
    }
    for answer in answers:
        any_name = rf"(?<!\w)(?:{'|'.join(names[answer.item])})(?!\w)"
        if not re.search(any_name, folded(answer.text)):
            yield answer.id


def with_answers(parameters: str, answers: Sequence[Answer], wrong: Sequence[str]) -> str:
    """The parameters of the simulation with what is known of the answers."""
    total, failed = (
        Counter(a.system for a in answers),
        Counter(a.system for a in answers if a.id in set(wrong)),
    )
    systems = "".join(
        # A probability, also where every answer was right or wrong.
        f"\n[systems.{s}]\nquality = {min(0.98, max(0.02, 1 - failed[s] / n)):.3f}\n"
        for s, n in sorted(total.items())
    )
    return f"wrong_answers = {json.dumps(sorted(wrong))}\n\n{parameters}{systems}"


def _ours(target: Path, demo: Path) -> bool:
    """Whether the folder is this demo, begun earlier."""
    protocol = target / PROTOCOL
    return protocol.is_file() and protocol.read_bytes() == (demo / "local" / PROTOCOL).read_bytes()


def _copy(demo: Path, draft: Path) -> None:
    for name in (PROTOCOL, "codebook.en.md", PARAMETERS):
        (draft / name).write_bytes((demo / "local" / name).read_bytes())
    items = _rows(demo / "items.csv")
    n_by_specialty: Counter[str] = Counter()
    chosen = []
    for row in items:
        if row["language"] == _LANGUAGE and n_by_specialty[row["specialty"]] < _EACH:
            n_by_specialty[row["specialty"]] += 1
            chosen.append(row)
    item_ids = {row["item"] for row in chosen}
    answers = [
        r for r in _rows(demo / "answers.csv") if r["item"] in item_ids and r["system"] == _WRITTEN
    ]
    _write(draft / "items.csv", chosen)
    _write(draft / "answers.csv", answers)


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _write(file: Path, rows: Sequence[dict[str, str]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
