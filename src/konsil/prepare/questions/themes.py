"""Themes of the questions: groups that mean alike, named, and edited by people.

They are kept as an event.

Themes are found once; people then merge, rename and drop them, and move single questions. Every
question has one theme, read as the stratum `theme`; a question that came later gets the nearest
one. A model may help: it gives key phrases that stand for the questions, names the themes and says
which one a question has; people stand above it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from konsil.errors import PlanError
from konsil.prepare.questions.asking import Asking
from konsil.prepare.questions.clusters import clusters, nearest_group, telling_words
from konsil.records import Event, Item

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

THEMING = "theming"
"""The kind of the event that holds the themes and who has which."""
THEME = "theme"
"""The stratum's name."""
DROP = "drop"
"""A person's decision that a theme is none: its questions get the nearest other one."""

Embed = Callable[[Sequence[str]], "NDArray[np.floating]"]
"""Texts -> their embeddings of length 1, shape (n_texts, n_dimensions)."""


@dataclass(frozen=True, slots=True)
class Theming(Asking):
    """How themes are looked for."""

    smallest: int = 10
    """Questions that make a theme, at least."""


@dataclass(frozen=True, slots=True)
class Themed:
    """The themes of a study's questions."""

    found: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Theme as it was found -> the questions that it was found in."""
    decided: Mapping[str, str] = field(default_factory=dict)
    """Theme as it was found -> what a person calls it, or DROP; two of one name are one."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """Question -> the theme that a person gave it."""
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Theme -> all its questions."""
    phrases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Question -> the key phrases that a model gave it."""
    named: Mapping[str, str] = field(default_factory=dict)
    """Theme as it was found -> what a model calls it; two of one name are one."""
    tagged: Mapping[str, str] = field(default_factory=dict)
    """Question -> the theme, as it was found, that a model gave it."""
    deciders: Mapping[str, str] = field(default_factory=dict)
    """'theme NAME' or 'item ID' -> who decided on it last; what was decided before this was
    recorded is not in it."""

    def names(self) -> dict[str, str]:
        """Theme as it was found -> its name, by people, else by a model.

        Those dropped are left out.
        """
        name_by_theme = {
            name: self.decided.get(name, self.named.get(name, name)) for name in self.found
        }
        return {name: label for name, label in name_by_theme.items() if label != DROP}

    def of(self) -> dict[str, str]:
        """Question -> theme."""
        return {item: theme for theme, items in self.tags.items() for item in items}


def themes(
    spec: Theming,
    items: Sequence[Item],
    embed: Embed,
    before: Themed | None = None,
    decided: Mapping[str, str] | None = None,
    moved: Mapping[str, str] | None = None,
    phrases: Mapping[str, Sequence[str]] | None = None,
) -> Themed:
    """Find the themes of all items, or those found `before`, and give every item one.

    What people decided stands.

    The order of the items plays no part. A PlanError says where nothing can be found. Where an item
    has key phrases, these are embedded in the place of its text.
    """
    ordered = sorted(items, key=lambda item: item.id)
    place = {item.id: n for n, item in enumerate(ordered)}
    phrases_by_item = {**(before.phrases if before is not None else {}), **(phrases or {})}
    item_phrases = {
        item.id: tuple(phrases_by_item[item.id]) for item in ordered if phrases_by_item.get(item.id)
    }
    vectors = embed(
        [
            ", ".join(item_phrases[item.id]) if item.id in item_phrases else item.text
            for item in ordered
        ]
    )
    ids_by_theme: dict[str, Sequence[str]]
    if before is None:
        groups = clusters(vectors, spec.smallest)
        if len(groups) < 2:
            raise PlanError(
                f"prepare.themes: no themes of {spec.smallest} or more questions were detected"
                " among"
                f" {len(ordered):,} questions; expected more questions, or a lower smallest"
            )
        ids_by_theme = _named(groups, ordered)
        decided, moved = decided or {}, moved or {}
    else:
        ids_by_theme = {
            name: present_ids
            for name, ids in before.found.items()
            if (present_ids := [i for i in ids if i in place])
        }
        decided, moved = {**before.decided, **(decided or {})}, {**before.moved, **(moved or {})}
    current_names = {name: label for name, label in sorted(decided.items()) if name in ids_by_theme}
    named = (
        {name: label for name, label in sorted(before.named.items()) if name in ids_by_theme}
        if before is not None
        else {}
    )
    tagged = (
        {i: t for i, t in sorted(before.tagged.items()) if i in place and t in ids_by_theme}
        if before is not None
        else {}
    )
    names = Themed(ids_by_theme, current_names, named=named).names()
    if not names:
        raise PlanError("prepare.themes: all themes are excluded; expected at least one theme")
    current_moves = {item: theme for item, theme in sorted(moved.items()) if item in place}
    merged: dict[str, list[int]] = {}
    for name in sorted(names):
        merged.setdefault(names[name], []).extend(place[i] for i in ids_by_theme[name])
    theme_by_item = {i: names[name] for name in names for i in ids_by_theme[name]}
    theme_by_item |= {
        i: names[theme] for i, theme in tagged.items() if theme in names
    } | current_moves
    nearest = nearest_group(vectors, list(merged.values()))
    tags: dict[str, list[str]] = {}
    for n, item in enumerate(ordered):
        tags.setdefault(theme_by_item.get(item.id) or list(merged)[nearest[n]], []).append(item.id)
    lists = {item: list(words) for item, words in item_phrases.items()}
    return Themed(
        ids_by_theme, current_names, current_moves, dict(sorted(tags.items())), lists, named, tagged
    )


def _named(groups: Sequence[Sequence[int]], ordered: Sequence[Item]) -> dict[str, Sequence[str]]:
    words = telling_words(
        {str(g): [ordered[row].text for row in rows] for g, rows in enumerate(groups)}
    )
    ids_by_theme: dict[str, Sequence[str]] = {}
    n_by_name = Counter[str]()
    for g, rows in enumerate(groups):
        name = ", ".join(words[str(g)]) or "theme"
        n_by_name[name] += 1
        ids_by_theme[name if n_by_name[name] == 1 else f"{name} ({n_by_name[name]})"] = [
            ordered[row].id for row in rows
        ]
    return ids_by_theme


def deciders_added(themed: Themed, before: Themed | None, by: str) -> Themed:
    """The themes with who decided what is decided otherwise than before."""
    previous = before if before is not None else Themed()
    stated = {f"theme {name}": label for name, label in themed.decided.items()}
    stated |= {f"item {item}": label for item, label in themed.moved.items()}
    earlier = {f"theme {name}": label for name, label in previous.decided.items()}
    earlier |= {f"item {item}": label for item, label in previous.moved.items()}
    deciders = {
        name: by if earlier.get(name) != label else previous.deciders[name]
        for name, label in sorted(stated.items())
        if earlier.get(name) != label or name in previous.deciders
    }
    return replace(themed, deciders=deciders)


def theming_event(themed: Themed, number: int, at: str) -> Event:
    """What is kept of the themes; `number` counts the study's from 1."""
    return Event(
        f"{THEMING}-{number}",
        THEMING,
        "items",
        at,
        {"number": number, **dataclasses.asdict(themed)},
    )


def last_themed(events: Iterable[Event]) -> tuple[int, Themed | None]:
    """The last themes among the events and their number; 0 and None where there are none."""
    themings = [event.data for event in events if event.kind == THEMING]
    if not themings:
        return 0, None
    data: Mapping[str, Any] = max(themings, key=lambda theming: int(theming.get("number", 0)))
    names = {f.name for f in dataclasses.fields(Themed)}
    return int(data.get("number", 0)), Themed(
        **{name: value for name, value in data.items() if name in names}
    )


def with_themes(items: Iterable[Item], themed: Themed | None) -> tuple[Item, ...]:
    """The items with the stratum `theme`, for those that have one.

    Applied again it changes nothing.

    >>> [made] = with_themes([Item("q", "?")], Themed(tags={"Drugs": ["q"]}))
    >>> made.strata
    {'theme': 'Drugs'}
    """
    of = themed.of() if themed is not None else {}
    return tuple(
        replace(item, strata={**item.strata, THEME: of[item.id]}) if item.id in of else item
        for item in items
    )
