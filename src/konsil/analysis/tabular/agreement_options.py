"""How a table of ratings is to be read: what its user states, and the options of its cells."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from konsil.analysis.recoding.flags import BY, CONFIDENCE, MISSING, WHERE, Where
from konsil.analysis.recoding.stated_labels import as_columns, numbers_of, words_of_labels
from konsil.analysis.roles.reading import Layout as StatedLayout
from konsil.analysis.roles.reading import StatedRoles, TableFile
from konsil.errors import AnalysisError
from konsil.records.request import Flag, Request, setting
from konsil.records.source import LAYOUTS, NAMES, REPEAT, UNUSED, Repeat

if TYPE_CHECKING:
    from konsil.analysis.model.spec import Resampling
    from konsil.analysis.tabular.slices import Slices

T = TypeVar("T")

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Layout = Literal["wide", "long", "counts", "lists"]
"""Wide and long tables name their raters; tables of counts and lists of labels in a cell do not."""


@dataclass(frozen=True)
class TableOptions(TableFile):
    """How the table is to be read."""

    layout: Layout | None = None
    """How the table is laid out; None: not known yet.

    Counts: one row a unit, one column a label, with the number of raters who gave it. Lists: one
    row a unit, the column of the labels holding those of all its raters. """
    unit: str | None = None
    "Column of the units."
    rater: tuple[str, ...] = ()
    """Long: the column of the raters. Wide: the raters' columns, where not all others are."""
    label: str | None = None
    """Long: the column of the labels."""
    cluster: str | None = None
    """The column whose values are resampled together; None: each unit is its own cluster."""
    level: Level = "nominal"
    "Level of measurement."
    labels: tuple[str, ...] = ()
    """The scale's labels in order; empty: those observed."""
    abstain: str | None = None
    """The label that is an abstention."""
    missing: tuple[str, ...] = ("",)
    """Words that mean: not rated."""
    split: str = ""
    """The character between two labels of a cell; empty where cells are JSON lists."""
    has_sets: bool = False
    """Whether a rating of one rater is a set of labels; lists contain those of all raters."""
    recode: Mapping[str, str] = field(default_factory=dict)
    """Label -> the label it is read as."""
    repeat: Repeat | None = None
    """Which of several labels of one rater for one unit counts; None: they are refused."""
    values: tuple[float, ...] = ()
    """The numbers of `labels`; empty: labels that are numbers are these numbers."""


@dataclass(frozen=True, kw_only=True)
class RatingsRequest(Request):
    """What is stated of a table of ratings, whatever is computed of it."""

    refusal = AnalysisError

    layout: StatedLayout | None = setting(None, Flag(by_value=LAYOUTS))
    unit: str | Sequence[str] | None = setting(
        (), Flag("Column of the units; repeatable, if several name them together.", metavar="C")
    )
    rater: str | Sequence[str] | None = setting(
        (), Flag("Column of the raters; wide: one rater's column, repeatable.", metavar="C")
    )
    label: str | Sequence[str] | None = setting(
        (), Flag("Column of the labels, one per criterion if repeated.", metavar="C")
    )
    criterion: str | None = setting(
        None, Flag("Column of the criteria, which are results of their own.", metavar="C")
    )
    names: str = setting("", replace(NAMES, help=f"{NAMES.help[:-1]}; also {{unit}}."))
    unused: Sequence[str] = setting((), UNUSED)
    cluster: str | None = setting(
        None, Flag("Column of the clusters, which are resampled as a whole.", metavar="C")
    )
    level: Level | None = setting(None, Flag("Level of measurement."))
    labels: Sequence[str | float] = setting(
        (),
        Flag(
            "All labels of the scale, in order; default: observed labels.",
            metavar="a,b,c",
            is_listed=True,
        ),
    )
    values: Sequence[str | float] = setting(
        (),
        Flag(
            "Numbers of --labels; default: labels that are numbers.",
            metavar="x,y,z",
            is_listed=True,
        ),
    )
    abstain: str | None = setting(None, Flag("Label that counts as an abstention.", metavar="L"))
    where: Where | None = setting(None, WHERE)
    by: str | None = setting(None, BY)
    missing: Sequence[str] = setting(("",), MISSING)
    recode: Mapping[str, str] | None = setting(
        None, Flag("Label to read as another one; repeatable.", metavar="OLD=NEW")
    )
    repeat: Repeat | None = setting(None, REPEAT)
    resamples: int = setting(10_000, Flag("Number of bootstrap resamples.", minimum=100))
    confidence: float = setting(0.95, CONFIDENCE)
    seed: int = setting(0, Flag("Seed of the bootstrap.", is_shown=True))

    @property
    def slices(self) -> Slices:
        """Which rows are used, and how they are grouped."""
        # With Polars, which a help does without.
        from konsil.analysis.tabular.slices import Slices, as_values

        return Slices(as_values(self.where))

    @property
    def resampling(self) -> Resampling:
        """The draws of the bootstrap and the intervals' level."""
        from konsil.analysis.model.spec import Resampling

        return Resampling(self.resamples, self.confidence)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns named."""
        several = (self.unit, self.rater, self.label, self.unused)
        single = (self.criterion, self.cluster, self.by, *self.slices.columns)
        named = (*chain.from_iterable(map(as_columns, several)), *single)
        return tuple(name for name in named if name is not None)

    @property
    def scale(self) -> tuple[str, ...]:
        """The declared labels as words."""
        return words_of_labels(self.labels)

    def table_options(self, file: TableFile | None = None) -> TableOptions:
        """How the cells of a file are to be read; the columns' roles are stated apart."""
        return TableOptions(
            **({} if file is None else vars(file)),
            cluster=self.cluster,
            level=self.level or "nominal",
            labels=self.scale,
            abstain=self.abstain,
            missing=tuple(self.missing),
            recode=dict(self.recode or {}),
            repeat=self.repeat,
            values=numbers_of(self.values),
        )

    def stated_roles(self) -> StatedRoles:
        """What is stated of the columns."""
        return StatedRoles(
            layout=self.layout,
            units=as_columns(self.unit),
            raters=as_columns(self.rater),
            labels=as_columns(self.label),
            criterion=self.criterion,
            cluster=self.cluster,
            groups=tuple(sorted(self.slices.columns)),
            unused=as_columns(self.unused),
            names=self.names,
            scale=self.scale,
            missing=tuple(self.missing),
            abstain=self.abstain,
            recoded=tuple(self.recode or ()),
        )


def composed(value: T) -> T:
    """Texts with composed letters (NFC), as all cells of a table are read.

    Within sequences, mappings and settings.

    >>> composed("e\u0301") == "\u00e9", composed(("e\u0301", 1))
    (True, ('é', 1))
    """
    if isinstance(value, str):
        return cast(T, unicodedata.normalize("NFC", value))
    if isinstance(value, tuple | list):
        return cast(T, type(value)(composed(member) for member in value))
    if isinstance(value, Mapping):
        return cast(T, {composed(key): composed(member) for key, member in value.items()})
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: composed(getattr(value, f.name)) for f in fields(value)})
    return value
