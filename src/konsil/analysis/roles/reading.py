"""What is known and stated of a table, and readings of it: a role for every column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from konsil.analysis.roles.outcomes import sense_of
from konsil.errors.message import TranslatableMessage

Shape = Literal[
    "wide",
    "long",
    "long-criteria",
    "rater-by-criterion",
    "raters-in-rows",
    "counts",
    "cross-table",
    "pairs",
    "pairs-on-scale",
    "pair-counts",
    "criteria",
    "systems",
    "repeats",
    "rows-to-combine",
    "one-rating",
    "lists",
    "spans",
    "objects",
    "questions",
    "answers",
]
"""How a table is laid out.

wide: a column for each rater. long: a row for each rating, also with a column of the criterion.
long-criteria: a row for each unit and rater, a column for each criterion. rater-by-criterion: a
column for each rater and criterion. raters-in-rows: a row for each rater, a column for each unit.
counts: a column for each label with its number of raters. cross-table: two raters' labels crossed.
pairs: a row for each comparison, with who won; pairs-on-scale: with a preference as a number;
pair-counts: a row for each pair of systems, with wins. criteria: a column for each criterion and
systems: one for each system, with one rating of each unit. repeats: long, with several ratings by
one rater, told apart by a column. rows-to-combine: the same without such a column. one-rating:
ratings by a single rater. lists: several labels in a cell. spans: marked parts of texts.
objects: objects of JSON in cells.
Of texts to be rated: questions: a row for each, with a column for the answers of each system.
answers: a row for each answer, with columns of its question and system.
"""

Layout = Literal["wide", "long", "counts", "lists", "raters-in-rows", "cross-table"]
"""Layouts that a user can state; each is one shape or several."""

SHAPES_OF: Mapping[Layout, frozenset[Shape]] = {
    "wide": frozenset({"wide", "rater-by-criterion"}),
    "long": frozenset({"long", "long-criteria", "repeats", "rows-to-combine"}),
    "counts": frozenset({"counts"}),
    "lists": frozenset({"lists"}),
    "raters-in-rows": frozenset({"raters-in-rows"}),
    "cross-table": frozenset({"cross-table"}),
}
"""The shapes of each layout."""

JSON_LISTS = "["
"""What is stated to be between the labels of a cell where cells are lists in JSON."""

COMPUTABLE: frozenset[Shape] = frozenset(
    (
        *("wide", "long", "long-criteria", "rater-by-criterion", "raters-in-rows", "counts"),
        *("cross-table", "pairs", "pair-counts"),
    )
)
"""Shapes that can be computed without a further statement."""

RATED_ONCE: frozenset[Shape] = frozenset({"one-rating", "systems"})
"""Shapes with one rating of each unit, by a rater who is not known: groups of them are compared."""

COMPARISONS: frozenset[Shape] = frozenset({"pairs", "pairs-on-scale", "pair-counts"})
"""Shapes of comparisons of two systems."""

TEXTS: frozenset[Shape] = frozenset({"questions", "answers"})
"""Shapes of texts to be rated."""

Role = Literal[
    "unit",
    "rater",
    "rating",
    "criterion",
    "system",
    "group",
    "cluster",
    "text",
    "comment",
    "time",
    "confidence",
    "repeat",
    "weight",
    "sum",
    "gold",
    "row",
    "first",
    "second",
    "outcome",
    "won",
    "lost",
    "tied",
    "question",
    "reference",
    "answer",
    "unused",
    "empty",
]
"""What a column is. rating: its cells are ratings; row: it only names or numbers the rows."""

Task = Literal["ratings", "comparisons", "groups", "texts"]
"""What a table is read for. groups: ratings of several systems or groups, which are compared;
texts: questions and answers that are to be rated."""


@dataclass(frozen=True, kw_only=True)
class StatedRoles:
    """What the user has stated of the columns; empty: not stated."""

    layout: Layout | None = None
    """How the table is laid out."""
    units: tuple[str, ...] = ()
    """Columns of the units, or of the items of comparisons."""
    raters: tuple[str, ...] = ()
    """The column of the raters, or the raters' columns."""
    labels: tuple[str, ...] = ()
    """Columns of the labels."""
    criterion: str | None = None
    """The column of the criteria."""
    system: str | None = None
    """The column of the systems; with the unit it names an answer."""
    repeat: str | None = None
    """The column that tells several ratings of a unit by one rater apart."""
    weight: str | None = None
    """The column that counts or weights rows."""
    cluster: str | None = None
    """The column of the clusters. It may be a unit's column."""
    groups: tuple[str, ...] = ()
    """Columns that choose or group rows: they contain no ratings."""
    group: str | None = None
    """The column of the systems or groups that are compared."""
    systems: tuple[str, ...] = ()
    """Columns with the ratings of one system each."""
    unused: tuple[str, ...] = ()
    """Columns that are not used."""
    names: str = ""
    """The names of columns as a pattern with {rater} and {criterion}."""
    split: str = ""
    """What is between several labels in a cell."""
    first: str | None = None
    """The column of the first of two compared systems."""
    second: str | None = None
    """The column of the second."""
    outcome: str | None = None
    """The column of the outcomes of comparisons."""
    second_outcome: str | None = None
    """The column of the outcomes with the systems shown in the other order."""
    swapped: str | None = None
    """Where words for a side are for the other order: `second_outcome`, or COLUMN=VALUE; '-' for
    nowhere."""
    won: str | None = None
    """The column of how often the first system won."""
    lost: str | None = None
    """The column of how often the second system won."""
    tied: str | None = None
    """The column of how often neither did."""
    scale: tuple[str, ...] = ()
    """All labels in order, as far as declared; for comparisons, the outcomes in order."""
    ends: tuple[float, float] | None = None
    """Outcomes as numbers: that of a full preference for the first system, and for the second."""
    missing: tuple[str, ...] = ("",)
    """Words that mean: not rated."""
    abstain: str | None = None
    """The label that is an abstention."""
    recoded: tuple[str, ...] = ()
    """Labels that are read as others."""
    has_no_units: bool = False
    """No column names the units, or the items of comparisons: each row is one."""
    has_no_raters: bool = False
    """The raters are unknown."""
    has_no_groups: bool = False
    """Nothing is compared: all ratings are one group."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the user has named."""
        single = (
            self.group,
            *(self.criterion, self.system, self.repeat, self.weight, self.cluster),
            *(self.first, self.second, self.outcome, self.second_outcome),
            *(self.won, self.lost, self.tied),
        )
        named = (*self.units, *self.raters, *self.labels, *self.groups, *self.unused)
        return (*named, *self.systems, *(name for name in single if name is not None))

    @property
    def declared(self) -> tuple[str, ...]:
        """All labels that are declared."""
        return (*self.scale, *(() if self.abstain is None else (self.abstain,)))

    @property
    def has_ratings(self) -> bool:
        """Whether anything is stated of how ratings are laid out."""
        columns = (self.units, self.raters, self.labels, self.criterion)
        return any((self.layout, self.names, self.split, *columns))

    def without(self, names: Collection[str]) -> StatedRoles:
        """The roles of units, raters, labels and criteria without those of some columns."""
        units, raters, labels, unused = (
            tuple(name for name in columns if name not in names)
            for columns in (self.units, self.raters, self.labels, self.unused)
        )
        criterion = None if self.criterion in names else self.criterion
        rest = replace(self, units=units, raters=raters, labels=labels, unused=unused)
        return replace(rest, criterion=criterion)

    def with_known(self, defaults: StatedRoles) -> StatedRoles:
        """The roles that are known where others are not stated."""
        if self.names or self.layout not in (None, defaults.layout):
            return self
        return replace(
            self,
            layout=defaults.layout,
            units=self.units or defaults.units,
            raters=self.raters or defaults.raters,
            labels=self.labels or defaults.labels,
            criterion=self.criterion or defaults.criterion,
            unused=self.unused or defaults.unused,
        )


@dataclass(frozen=True, kw_only=True)
class TableReading:
    """A complete reading of a table: its shape, and what every column is."""

    shape: Shape
    """How the table is laid out."""
    units: tuple[str, ...] = ()
    """Columns that together name the unit; empty: each row is one."""
    rater: str | None = None
    """The column of the raters, where rows are ratings, or raters."""
    rated: tuple[str, ...] = ()
    """The columns of ratings, in the table's order. wide: a rater each; raters-in-rows: a unit
    each; long: the labels; long-criteria and criteria: a criterion each; counts and cross-table: a
    label each; systems: a system each; rater-by-criterion: a rater and criterion each; pairs and
    pairs-on-scale: the outcomes of a rater each, where raters have columns of their own.
    questions: the answers of a system each; answers: the answers."""
    criterion: str | None = None
    """The column of the criteria."""
    system: str | None = None
    """The column of the systems, one of `units`."""
    group: str | None = None
    """The column of the systems or groups that are compared."""
    repeat: str | None = None
    """The column that tells several ratings of a unit by one rater apart."""
    weight: str | None = None
    """The column that counts or weights rows."""
    cluster: str | None = None
    """The column of the clusters, as stated; or of rows that may be clusters, which is asked."""
    sides: tuple[str, str] | None = None
    """The columns of the first and the second system of a comparison."""
    outcome: str | None = None
    """The column of the outcomes of comparisons."""
    second_outcome: str | None = None
    """The column of the outcomes with the systems shown in the other order."""
    order: str | None = None
    """The column of the order in which the systems were shown, where both orders are pooled."""
    swapped: str = ""
    """Where words for a side may be for the other order, as it would be stated."""
    ends: tuple[float, float] | None = None
    """pairs-on-scale: the numbers of a full preference for the first and the second system."""
    wins: Mapping[str, str] = field(default_factory=dict)
    """won, lost and tied -> column, where a row counts several comparisons."""
    names: str = ""
    """rater-by-criterion: the columns' names as a pattern such as '{rater}_{criterion}'."""
    split: str = ""
    """What is between several labels in a cell, or JSON_LISTS; empty: a cell has one label. In the
    shape lists they are the labels of all raters of a unit, in others those of one rater."""
    roles: Mapping[str, Role] = field(default_factory=dict)
    """The role of every column, in the table's order."""
    unused: Mapping[str, TranslatableMessage] = field(default_factory=dict)
    """Column -> why it is not used."""
    points: float = 0.0
    """How much more speaks for it than against it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the reading uses."""
        single = (
            *(self.rater, self.criterion, self.repeat, self.weight, self.outcome),
            *(self.group, self.second_outcome),
        )
        named = (*self.units, *self.rated, *(self.sides or ()), *self.wins.values())
        return (*named, *(name for name in single if name is not None))

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters' columns."""
        return self.rated if self.shape in {"wide", *COMPARISONS} else ()

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The columns of the outcomes of comparisons."""
        single = (self.outcome, self.second_outcome)
        return (*self.rated, *(name for name in single if name is not None))

    @property
    def names_losers(self) -> bool:
        """Whether its outcomes are the systems that lost, by the columns' names."""
        return self.shape == "pairs" and any(sense_of(name) < 0 for name in self.outcomes)

    @property
    def names_winners(self) -> bool:
        """Whether the columns of the two systems have the ones that won and that lost."""
        return self.shape == "pairs" and not self.outcomes

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of labels of a long table, or of lists of labels."""
        is_long = self.shape in SHAPES_OF["long"]
        return self.rated if is_long or self.shape in {"lists", "one-rating"} else ()

    @property
    def has_sets(self) -> bool:
        """Whether a rating of one rater is a set of labels."""
        return bool(self.split) and self.shape != "lists"

    @property
    def separator(self) -> str:
        """What is between the labels in the text of a cell; empty for lists in JSON."""
        return "" if self.split == JSON_LISTS else self.split

    @property
    def criteria(self) -> tuple[str, ...]:
        """The columns that are a criterion each."""
        return self.rated if self.shape in {"long-criteria", "criteria"} else ()


@dataclass(frozen=True)
class Proposal:
    """What a table can be read as, and whether that is certain."""

    reading: TableReading | None
    """The likeliest reading; None where no column contains ratings."""
    rivals: tuple[TableReading, ...] = ()
    """Readings that give other numbers, the likeliest first."""
    is_certain: bool = False
    """Whether the likeliest reading can be computed without a question."""
    unclear: tuple[TranslatableMessage, ...] = ()
    """All that is unclear; empty where it is certain."""
    margin: float = 0.0
    """By how many points the likeliest reading precedes the first of its rivals."""


@dataclass(frozen=True)
class Purpose:
    """What a table is read for, and the words in which its user states roles."""

    task: Task
    name: str
    """The table's name, for errors."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Role of `StatedRoles` -> the parameter by which it is stated."""
    unclear: tuple[str, ...] = ()
    """What is unclear of the file itself."""
    has_rule: bool = False
    """Whether it is stated which of repeated ratings counts."""
    of_tool: frozenset[str] = frozenset()
    """Roles that need no statement, as the tool that wrote the table gives them."""
    file_roles: StatedRoles | None = None
    """The roles that the tool which wrote the table gives its columns."""
    question: str = ""
    """What has to be confirmed before `file_roles` are read; empty: nothing."""
    separator: str = ""
    """What is between the cells of a text whose decimal sign is open; empty: no such text."""
    sheets: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The sheets of a workbook of which none is stated -> their columns; the first one is read."""


@dataclass(frozen=True)
class TableFile:
    """Where a table is from."""

    line: Callable[[int], int | str] = field(default=lambda row: row + 2)
    """Row index -> line of the file, or the row's name in a data frame, for errors."""
    place: str = "line"
    """What `line` names: lines of a text, rows of a spreadsheet or of a data frame."""
    name: str = "table"
    """The table's name, for errors."""
    unclear: tuple[str, ...] = ()
    """What is unclear of the file: a table of which not every role is stated is then refused."""
    file_roles: StatedRoles | None = None
    """The roles that the tool which wrote the table gives its columns, or that several files have,
    unless the user states others."""
    question: str = ""
    """What has to be confirmed before `file_roles` are read; empty: nothing."""
    separator: str = ""
    """What is between the cells of a text whose decimal sign is open; empty: no such text."""
    sheets: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The sheets of a workbook of which none is stated -> their columns; the first one is read."""

    def purpose(
        self,
        task: Task,
        flags: Mapping[str, str] = MappingProxyType({}),
        *,
        has_rule: bool = False,
    ) -> Purpose:
        """What the table is read for; `flags` and `has_rule` are those of `Purpose`."""
        return Purpose(
            task,
            self.name,
            flags=flags,
            unclear=self.unclear,
            has_rule=has_rule,
            file_roles=self.file_roles,
            question=self.question,
            separator=self.separator,
            sheets=self.sheets,
        )
