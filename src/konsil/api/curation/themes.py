"""The themes of a study's questions.

A command finds them, people edit them in a table, and an event stores them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from konsil.api.curation.decision_tables import DECISION, read_decisions, write_cells
from konsil.api.curation.requests import ThemesRequest
from konsil.api.curation.theme_asking import Helped, with_model
from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.collect.jobs.preparing import Replies
from konsil.errors import PlanError, SourceError, StudyError
from konsil.prepare import (
    DROP,
    THEME,
    Themed,
    Theming,
    in_study,
    last_themed,
    themes,
    theming_event,
)
from konsil.prepare.questions.clusters import telling_words
from konsil.prepare.questions.themes import deciders_added
from konsil.records import Item
from konsil.sources.files.table import read_table
from konsil.sources.language.embeddings import embedder
from konsil.store import Batch
from konsil.store.people.staff import TABLE, decider

OF_THEMES = (THEME, "questions", "words", "example", DECISION)
"""The table of the themes, a row a theme as detected, with an empty column for what is
decided."""
OF_ITEMS = ("item", THEME, DECISION, "text")
"""The table of the questions, with an empty column for another theme."""
NAMED = "named"
"""The column with a model's name for a theme."""
PHRASES = "phrases"
"""The column with a model's key phrases of a question."""
EXAMPLE = 200
"""Characters shown of a question."""
WORDS = 8
"""Words shown of a theme."""


@dataclass(frozen=True)
class Tagged:
    """The questions and their themes."""

    items: Sequence[Item]
    """The study's items."""
    themed: Themed
    """Their themes."""
    new: bool
    """Whether they differ from the last ones, or are the first."""
    runs: Sequence[Replies] = ()
    """What a model was asked, in order."""
    n_pending: int = 0
    """How much the model has still to be asked before there are themes; nothing is stored until
    then."""


def tag_items(folder: Folder, request: ThemesRequest | None = None) -> Tagged:
    """Find or reuse the themes of a study's items, and edit them.

    The study's [prepare.themes] says how they are found; themes of an earlier run are reused unless
    they are to be found `anew`. `decisions` are tables that people edited: of themes, of questions
    or both.
    """
    request = ThemesRequest() if request is None else request
    decisions, save = request.decisions, not request.dry_run
    spec, where = _theming(folder), folder.path / PROTOCOL
    with folder.store() as store:
        with store.view() as view:
            events = tuple(view.each("events"))
            items = in_study(view.each("items"), events)
            is_planned = view.counts()["tasks"] > 0
        if not items:
            raise PlanError(
                f"{where}: prepare.themes: there are no items yet; run 'konsil import' first"
            )
        number, before = last_themed(events)
        retained = None if request.anew else before
        if retained is None and decisions:
            raise PlanError(
                f"{where}: prepare.themes: the decisions refer to earlier themes; run 'konsil"
                " themes' first and then import the decisions"
            )
        decided, moved = dict[str, str](), dict[str, str]()
        if retained is not None:
            for path in decisions:
                _read(path, retained, {item.id for item in items}, decided, moved)
        helped = Helped(retained)
        try:
            if spec.model:
                if save:
                    note_study(store, folder.study, now())
                chosen = request.calls.options(dry_run=not save)
                helped = with_model(folder, store, spec, items, retained, embedder, chosen)
                if helped.themed is None:
                    return Tagged(items, retained or Themed(), False, helped.runs, helped.n_pending)
            who = decider(store, request.by or TABLE, may_write=save)
            themed = deciders_added(
                themes(spec, items, embedder(), helped.themed, decided, moved), retained, who
            )
        except PlanError as error:
            raise PlanError(f"{where}: {error}") from None
        is_new = themed != before
        if is_new and is_planned and any(THEME in (a.match, *a.weights) for a in folder.study.plan):
            raise PlanError(
                f"{where}: prepare.themes: an assignment plan by theme already exists; its"
                " themes can no longer change"
            )
        if save and is_new:
            note_study(store, folder.study, now())
            event = theming_event(themed, number + 1, now())
            store.add(
                Batch(events=[event]), source="themes", at=event.at, by=who if decisions else ""
            )
    return Tagged(items, themed, is_new, helped.runs)


def _theming(folder: Folder) -> Theming:
    prepare = folder.study.prepare
    if prepare is None or prepare.themes is None:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there is no [prepare.themes]; expected one that states"
            " how themes are detected"
        )
    return prepare.themes


def _read(
    path: Path, retained: Themed, items: set[str], decided: dict[str, str], moved: dict[str, str]
) -> None:
    """Take a table's decisions: of questions where it has a column item, else of themes.

    An empty one is none.
    """
    table = read_table(path)
    if "item" not in table.frame.columns:
        decided |= read_decisions(table, THEME, set(retained.found), "theme as detected", DROP)
        return
    chosen = read_decisions(table, "item", items, "item", DROP)
    for item, theme in chosen.items():
        if theme == DROP:
            raise SourceError(
                f"{table.name}: item {item!r}: every question has a theme; expected its name, got"
                f" {DROP!r}"
            )
    moved |= chosen


def write_tables(tagged: Tagged, themes_path: Path | None, items_path: Path | None) -> None:
    """Write the table of the themes and that of the questions for people to edit."""
    texts = {item.id: item.text for item in tagged.items}
    if themes_path is not None:
        ids_by_theme = tagged.themed.found
        words = telling_words(
            {name: [texts[i] for i in ids] for name, ids in ids_by_theme.items()}, WORDS
        )
        named = tagged.themed.named
        more = [NAMED] if named else []
        rows = [
            (
                name,
                *([named.get(name, "")] if named else []),
                str(len(ids)),
                ", ".join(words[name]),
                texts[ids[0]][:EXAMPLE] if ids else "",
                tagged.themed.decided.get(name, ""),
            )
            for name, ids in ids_by_theme.items()
        ]
        write_cells(themes_path, (OF_THEMES[0], *more, *OF_THEMES[1:]), rows)
    if items_path is not None:
        of, moved, phrases = tagged.themed.of(), tagged.themed.moved, tagged.themed.phrases
        item_rows = [(i, of[i], moved.get(i, ""), text) for i, text in sorted(texts.items())]
        if phrases:
            write_cells(
                items_path,
                (*OF_ITEMS, PHRASES),
                [(*row, ", ".join(phrases.get(row[0], ()))) for row in item_rows],
            )
        else:
            write_cells(items_path, OF_ITEMS, item_rows)


def theme_lines(tagged: Tagged) -> Iterator[str]:
    """The themes in a few lines, the largest first."""
    themed = tagged.themed
    if tagged.n_pending:
        yield (f"{tagged.n_pending:,} requests of the first step are pending; nothing was stored")
        return
    for replies in tagged.runs:
        for outcome, n in sorted(replies.unreadable.items()):
            yield f"invalid reply ({outcome}): {n:,} {replies.step}"
    yield f"{len(tagged.items):,} questions, {len(themed.tags):,} themes"
    sizes: Mapping[str, int] = Counter({name: len(ids) for name, ids in themed.tags.items()})
    for name, n in sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"  {name}: {n:,}"
    if themed.decided or themed.moved:
        yield (
            f"  decided by reviewers: {len(themed.decided):,} themes, {len(themed.moved):,}"
            " questions"
        )
