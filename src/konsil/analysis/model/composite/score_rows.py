"""Composite scores as rows of the rating table: each rater's number for each thing rated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from konsil.analysis.model.composite.definition import CompositeScore, parts_of
from konsil.errors import AnalysisError, nearest
from konsil.instrument import Criterion, Instrument, number_word
from konsil.records.digits import DIGITS

_RATED_TOGETHER = (
    "rater",
    "item",
    "answers",
    "span",
    "arm",
    "phase",
    "batch",
    "purpose",
    "repeat_of",
    "instrument",
)
"""What labels have in common that one rater gave the same thing on one occasion."""


@dataclass(frozen=True)
class Composite:
    """A score with the criteria that it is made of, by instrument."""

    score: CompositeScore
    """The score."""
    parts: Mapping[str, tuple[Criterion, ...]]
    """Instrument -> the criteria; the empty name, of ratings whose task is not known, has those of
    the first."""
    is_of_gaps: bool = False
    """Whether the rows are labels that are missing, so that what lacks one has no score."""

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """One row a score from the rows of labels, with the same columns.

        A score that is undefined has no row, but where the rater abstained on a criterion it is an
        abstention.
        """
        labels = frame.filter(
            pl.col("criterion").is_in(list(self.score.of))
            & pl.col("instrument").is_in([*self.parts])
        )
        numbered = self._numbered(labels)
        keys = [*_RATED_TOGETHER, *(["task"] if self._is_of_tasks else [])]
        shared = [c for c in frame.columns if c not in {*keys, *_OWN}]
        grouped = numbered.group_by(keys, maintain_order=True).agg(
            *(pl.col(c).first() for c in shared),
            pl.col("seconds").max(),
            pl.col(_NUMBER).count().alias(_N_RATED),
            pl.len().alias(_N),
            pl.col("criterion").n_unique().alias(_N_CRITERIA),
            (pl.col("state") == "abstained").any().alias(_ABSTAINED),
            self._combined().alias(_NUMBER),
        )
        self._refuse_twice(grouped)
        return self._with_state(grouped).select(frame.columns).cast(frame.schema)

    @property
    def _is_of_tasks(self) -> bool:
        return any(part.scope == "task" for parts in self.parts.values() for part in parts)

    def _numbered(self, labels: pl.DataFrame) -> pl.DataFrame:
        """The labels with the number that each contributes; null where it contributes none."""
        rated: list[pl.DataFrame] = []
        for instrument, parts in self.parts.items():
            for n, part in enumerate(parts):
                rows = labels.filter(
                    (pl.col("instrument") == instrument) & (pl.col("criterion") == part.id)
                )
                weight = self.score.weights[n] if self.score.weights else 1.0
                rated.append(
                    rows.with_columns(
                        pl.when(pl.col("state") == "rated")
                        .then(self._label_value(rows, part))
                        .otherwise(None)
                        .alias(_NUMBER),
                        pl.lit(weight).alias(_WEIGHT),
                    )
                )
        return pl.concat(rated)

    def _label_value(self, rows: pl.DataFrame, part: Criterion) -> pl.Expr:
        scale, score = part.scale, self.score
        if scale.kind == "number":
            number = pl.col("label").cast(pl.Float64, strict=False)
        else:
            number_by_label = dict(zip(scale.labels, map(float, scale.numbers()), strict=True))
            _refuse_unknown_labels(rows, part)
            number = pl.col("label").replace_strict(
                number_by_label, default=None, return_dtype=pl.Float64
            )
        if score.combine != "share":
            return number
        if score.labels:
            return pl.col("label").is_in(list(score.labels)).cast(pl.Float64)
        return (number >= score.at_least).cast(pl.Float64)

    def _combined(self) -> pl.Expr:
        number, weight = pl.col(_NUMBER), pl.col(_WEIGHT)
        if self.score.combine == "minimum":
            return number.min()
        # The order in which labels are added changes the last digits and must not make two numbers.
        total = (number * weight).sum().round_sig_figs(DIGITS)
        if self.score.combine == "sum":
            return total
        return total / weight.filter(number.is_not_null()).sum().round_sig_figs(DIGITS)

    def _refuse_twice(self, grouped: pl.DataFrame) -> None:
        twice = grouped.filter(pl.col(_N) > pl.col(_N_CRITERIA))
        if twice.height:
            row = twice.row(0, named=True)
            raise AnalysisError(
                f"score {self.score.id!r}: rater {row['rater']!r} labelled {row['item']!r} twice on"
                " one criterion; expected once on each occasion (phase, batch or arm)"
            )

    def _with_state(self, grouped: pl.DataFrame) -> pl.DataFrame:
        least = len(self.score.of) if self.score.missing == "complete" else self.score.min_parts
        is_defined = pl.col(_N_RATED) >= least
        numbers = grouped.filter(is_defined).get_column(_NUMBER).unique()
        words = {number: number_word(number) for number in numbers}
        label = pl.col(_NUMBER).replace_strict(words, default=None, return_dtype=pl.String)
        state = pl.when(is_defined).then(pl.lit("rated")).otherwise(pl.lit("abstained"))
        if self.is_of_gaps:
            state, is_kept = pl.lit("rated"), pl.lit(True)
            label = pl.lit(None, dtype=pl.String)
        else:
            is_kept = is_defined | pl.col(_ABSTAINED)
        return grouped.filter(is_kept).with_columns(
            state.alias("state"),
            pl.when(is_defined).then(label).otherwise(None).alias("label"),
            pl.lit(self.score.id).alias("criterion"),
            pl.lit(None, dtype=pl.Float64).alias("confidence"),
        )


_NUMBER, _WEIGHT, _ABSTAINED = "score: number", "score: weight", "score: abstained"
_N, _N_RATED, _N_CRITERIA = "score: labels", "score: numbers", "score: criteria"
_OWN = {"criterion", "state", "label", "seconds", "confidence"}


def _refuse_unknown_labels(rows: pl.DataFrame, part: Criterion) -> None:
    """A label of no scale would count as missing without notice."""
    labels = rows.filter(pl.col("state") == "rated").get_column("label").drop_nulls().unique()
    unknown = labels.filter(~labels.is_in(list(part.scale.labels))).sort()
    if unknown.len():
        raise AnalysisError(
            f"{unknown[0]!r} is not a label of criterion {part.id!r};"
            f" {nearest(unknown[0], part.scale.labels)}"
        )


def composites_of(
    scores: Sequence[CompositeScore], instruments: Sequence[Instrument]
) -> dict[str, Composite]:
    """Score's identifier -> the score with its criteria."""
    composites = {}
    for score in scores:
        parts = {i.id: parts for i in instruments if (parts := parts_of(score, i))}
        first = next(iter(parts.values()), ())
        composites[score.id] = Composite(score, {**parts, "": first} if parts else {})
    return composites


def of_gaps(composites: Mapping[str, Composite]) -> dict[str, Composite]:
    """The same for a table of missing labels."""
    return {name: replace(composite, is_of_gaps=True) for name, composite in composites.items()}
