"""A reading under construction: its parts, and the evidence for and against it with its points."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from konsil.analysis.roles.reading import TEXTS, Role, Shape, TableReading
from konsil.errors import choice, option
from konsil.errors.message import TranslatableMessage, message

CUT = 60
"""Characters of a text that are shown."""


def shortened(text: str) -> str:
    """A text of at most 60 characters.

    >>> len(shortened("x" * 90)), shortened("short")
    (60, 'short')
    """
    return text if len(text) <= CUT else text[: CUT - 3] + "..."


def _with_parts_exchanged(pattern: str) -> str:
    """A pattern of names whose parts say each other's role.

    >>> _with_parts_exchanged("{rater}_{criterion}")
    '{criterion}_{rater}'
    """
    others = {"{rater}": "{criterion}", "{criterion}": "{rater}"}
    return re.sub("|".join(others), lambda part: others[part.group()], pattern)


QUESTIONS: Mapping[str, Callable[[str], TranslatableMessage]] = {
    "product_open": lambda c: message(
        "State which part of the columns' names stands for the rater: {one} or {other}.",
        message_id="roles.product_open",
        one=option("names", c),
        other=option("names", _with_parts_exchanged(c)),
    ),
    "rows_of_rounds": lambda c: message(
        "{column} distinguishes several ratings by one rater.",
        message_id="roles.tells_repeats",
        column=c,
    ),
    "unit_has_rows": lambda c: message(
        "{column} has the same value in several rows.", message_id="roles.unit_has_rows", column=c
    ),
    "may_name_raters": lambda c: message(
        "{column} may name the raters.", message_id="roles.may_name_raters", column=c
    ),
    "rater_column": lambda c: message(
        "Another column names raters: {column}.", message_id="roles.rater_column", column=c
    ),
    "other_sums": lambda c: message(
        "The sums of the rows differ; they may count something else than raters ({column}).",
        message_id="roles.other_sums",
        column=c,
    ),
    "percent": lambda c: message(
        "Each row has the sum 100: of shares in per cent, the numbers of raters are unknown"
        " ({column}).",
        message_id="roles.percent",
        column=c,
    ),
    "of_pairs": lambda c: message(
        "The numbers are the same above and below the diagonal, as those of units that two raters"
        " share are ({column}): if they are a cross table of two raters, state {layout}.",
        message_id="roles.of_pairs",
        column=c,
        layout=choice("layout", "cross-table"),
    ),
    "of_one_rater": lambda c: message(
        "Columns are named for a rater, with a further word ({column}): they may be second ratings"
        " by this rater, or something else.",
        message_id="roles.of_one_rater",
        column=c,
    ),
    "criteria_not_named": lambda c: message(
        "Neither units nor criteria are named as such ({column}).",
        message_id="roles.criteria_not_named",
        column=c,
    ),
    "criteria_apart": lambda c: message(
        "Not all of these columns have common values: {column}.",
        message_id="roles.criteria_apart",
        column=c,
    ),
    "systems_alone": lambda c: message(
        "{column} contains systems, but is not named for outcomes.",
        message_id="roles.systems_alone",
        column=c,
    ),
    "sides_alone": lambda c: message(
        "{column} contains sides, but is not named for outcomes.",
        message_id="roles.sides_alone",
        column=c,
    ),
}
"""Evidence -> the question that it is, of the column that it is about.

All other evidence has points alone, and is not put into words."""

ASKED = frozenset(QUESTIONS) - {"rater_column"}
"""What is asked whatever else speaks for a reading."""


@dataclass
class Draft:
    """A reading under construction; its sentences are written when it is shown."""

    shape: Shape
    units: tuple[str, ...] = ()
    rater: str | None = None
    rated: tuple[str, ...] = ()
    criterion: str | None = None
    system: str | None = None
    repeat: str | None = None
    weight: str | None = None
    cluster: str | None = None
    sides: tuple[str, str] | None = None
    outcome: str | None = None
    second_outcome: str | None = None
    ends: tuple[float, float] | None = None
    wins: dict[str, str] = field(default_factory=dict)
    names: str = ""
    split: str = ""
    texts: dict[str, Role] = field(default_factory=dict)
    """Of texts to be rated: the columns of questions, of reference answers, and of groups."""
    roles: dict[str, Role] = field(default_factory=dict)
    """The roles of columns that are not used."""
    evidence: list[tuple[float, str, str]] = field(default_factory=list)
    """Points, what speaks for or against the reading, and the column."""
    points: float = 0.0
    numbers: tuple[object, ...] = ()
    """What decides the numbers: drafts that are equal in it are one."""

    def add(self, points: float, reason: str, column: str = "") -> None:
        """Add evidence; without points it is none."""
        if points:
            self.points += points
            self.evidence.append((points, reason, column))

    def copy(self, **changes: object) -> Draft:
        """The same draft, with some parts changed; it shares no list with this one."""
        fresh = {
            "roles": dict(self.roles),
            "texts": dict(self.texts),
            "evidence": list(self.evidence),
        }
        return replace(self, **{**fresh, **changes})  # type: ignore[arg-type]

    @property
    def used(self) -> dict[str, Role]:
        """The roles of the columns that are used."""
        singles: dict[str | None, Role] = {
            self.rater: "rater",
            self.criterion: "criterion",
            self.system: "system",
            self.repeat: "repeat",
            self.weight: "weight",
            self.outcome: "outcome",
            self.second_outcome: "outcome",
        }
        roles: dict[str, Role] = dict.fromkeys(self.units, "unit")
        roles |= dict.fromkeys(self.rated, "answer" if self.shape in TEXTS else "rating")
        roles |= self.texts
        roles |= {name: role for name, role in singles.items() if name is not None}
        if self.sides:
            roles |= {self.sides[0]: "first", self.sides[1]: "second"}
        for role in ("won", "lost", "tied"):
            if role in self.wins:
                roles[self.wins[role]] = role
        return roles


def unused_because(role: Role) -> TranslatableMessage:
    """Why a column is not used."""
    sentences: Mapping[Role, TranslatableMessage] = {
        "text": message("texts", message_id="roles.unused_text"),
        "comment": message("comments", message_id="roles.unused_comment"),
        "time": message("dates or times", message_id="roles.unused_time"),
        "confidence": message("confidence", message_id="roles.unused_confidence"),
        "sum": message("a sum or mean", message_id="roles.unused_sum"),
        "gold": message("a reference or consensus", message_id="roles.unused_gold"),
        "row": message("names or numbers of the rows", message_id="roles.unused_row"),
        "group": message("a characteristic", message_id="roles.unused_group"),
        "repeat": message("a round of ratings", message_id="roles.unused_repeat"),
        "weight": message("weights or counts", message_id="roles.unused_weight"),
        "empty": message("no value in any row", message_id="roles.unused_empty"),
        "cluster": message("clusters, as stated", message_id="roles.unused_cluster"),
    }
    return sentences.get(role, message("no role", message_id="roles.unused_other"))


def reading_of(draft: Draft, columns: list[str], cluster: str | None) -> TableReading:
    """A complete reading: every column of the table has its role."""
    used, cluster = draft.used, cluster or draft.cluster
    if cluster is not None and cluster not in used:
        used[cluster] = "cluster"
    roles = {name: used.get(name) or draft.roles.get(name, "empty") for name in columns}
    return TableReading(
        shape=draft.shape,
        units=draft.units,
        rater=draft.rater,
        rated=draft.rated,
        criterion=draft.criterion,
        system=draft.system,
        repeat=draft.repeat,
        weight=draft.weight,
        cluster=cluster,
        sides=draft.sides,
        outcome=draft.outcome,
        second_outcome=draft.second_outcome,
        ends=draft.ends,
        wins=draft.wins,
        names=draft.names,
        split=draft.split,
        roles=roles,
        unused={name: unused_because(role) for name, role in roles.items() if name not in used},
        points=draft.points,
    )
