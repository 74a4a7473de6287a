"""Labels of a table that may be none: codes for missing values, and spellings of one label."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations

import polars as pl

from konsil.analysis.roles.candidates.stray_rows import without_strays
from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.label_codes import (
    FEWEST,
    abstentions_of,
    codes_of,
    recodings_of,
)
from konsil.analysis.roles.names import pattern_regex
from konsil.analysis.roles.questions.decimal_marks import (
    decimal_sign,
    far_thousands,
    unclear_marks,
)
from konsil.analysis.roles.reading import COMPARISONS, StatedRoles, TableReading
from konsil.analysis.roles.vocabulary import (
    NO_ANSWER,
    NO_CELL,
    known_pair,
)
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.records.numerals import (
    is_number,
    number_of,
)

_OTHER_CELLS = COMPARISONS | {"counts", "cross-table", "lists", "rows-to-combine"}
"""Shapes of which cells are no single labels of a rater, or are summed."""


def unclear_labels(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles, separator: str = ""
) -> Iterator[TranslatableMessage]:
    """What is asked of the labels of a table, as whether 99 among 1 to 5 is a label.

    `separator`: what is between the cells of a text whose decimal sign is open.
    """
    labels = _Labels(frame, reading, stated)
    all_labels = option("labels", example="[...]")
    names = {
        "missing": option("missing", example="[...]"),
        "recode": option("recode", example="{...}"),
    }
    codes = {"missing": labels.codes} if labels.codes else {}
    spellings = {"recode": labels.spellings} if labels.spellings else {}
    yield from label_questions(codes, names, all_labels)
    if labels.abstentions:
        yield message(
            "{word} may say that a rater cannot judge: state it with {abstain}, or all labels with"
            " {labels}.",
            message_id="roles.may_be_abstention",
            word=repr(labels.abstentions[0]),
            abstain=option("abstain"),
            labels=all_labels,
        )
    yield from label_questions(spellings, names, all_labels)
    if labels.other_words:
        yield message(
            "Raters have no label in common ({words}): state which are the same with {recode}, or"
            " all labels with {labels}.",
            message_id="roles.may_be_other_words",
            words=", ".join(labels.other_words),
            recode=option("recode", example="{...}"),
            labels=all_labels,
        )
    yield from labels.unanswered()
    yield from unclear_marks(frame, reading, separator)
    yield from far_thousands(frame, reading, separator)


def label_questions(
    answers: Mapping[str, Sequence[str]], names: Mapping[str, str], labels: str
) -> Iterator[TranslatableMessage]:
    """What some answers reply to: codes that are `missing`, and a `recode` of spellings.

    `names`: what states each answer; `labels`: what states all labels.
    """
    if "missing" in answers:
        yield message(
            "{codes} may be codes for missing values and no labels: state them with {missing}, or"
            " all labels with {labels}.",
            message_id="roles.may_be_missing",
            codes=listed([repr(code) for code in answers["missing"]]),
            missing=names["missing"],
            labels=labels,
        )
    if "recode" in answers:
        yield message(
            "Labels differ only in case or spaces ({spellings}): state which are the same with"
            " {recode}, or all labels with {labels}.",
            message_id="roles.may_be_spellings",
            spellings=", ".join(answers["recode"]),
            recode=names["recode"],
            labels=labels,
        )


def unanswered(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles, separator: str = ""
) -> Iterator[TranslatableMessage]:
    """What is asked of labels and no option of a command answers: the table is to be written so."""
    yield from _Labels(frame, reading, stated).unanswered()
    yield from far_thousands(frame, reading, separator)


def _has_names_again(frame: pl.DataFrame, reading: TableReading) -> bool:
    """Whether a row has the names of the columns, as where tables were copied one below another.

    In other rows such a name is a label.
    """
    names = [name for name in dict.fromkeys(reading.columns) if name in frame.columns]
    rows = frame
    for name in names:
        rows = rows.filter(pl.col(name).cast(pl.String) == name)
        if rows.is_empty():
            return False
    if len(names) < FEWEST:
        return False
    n_equal = (int((frame[name].cast(pl.String) == name).sum()) for name in names)
    return any(n == rows.height for n in n_equal)


def label_arguments(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles, separator: str = ""
) -> list[tuple[str, tuple[str, ...]]]:
    """The options that state which labels are none, which are the same, and the decimal sign.

    None where all labels are stated, or labels of this kind. Criteria in columns of their own may
    have scales of their own.
    """
    labels = _Labels(frame, reading, stated)
    options = {
        "missing": labels.codes,
        "abstain": labels.abstentions[:1],
        "recode": (*labels.spellings, *labels.other_words),
        "decimal": decimal_sign(frame, reading, separator),
    }
    return [(name, values) for name, values in options.items() if values]


@dataclass(frozen=True)
class _Labels:
    """The labels of a table that are not stated, and what may be wrong with them."""

    frame: pl.DataFrame
    reading: TableReading
    stated: StatedRoles

    @cached_property
    def ratings(self) -> pl.DataFrame:
        """The rows that are ratings."""
        return without_strays(self.frame, self.reading)

    @cached_property
    def rated(self) -> list[str]:
        """The columns of ratings."""
        return [name for name in self.reading.rated if name in self.frame.columns]

    @cached_property
    def sets(self) -> list[AbstractSet[str]]:
        """The labels that are not stated, of each criterion; none where all are stated."""
        if self.stated.scale or self.reading.split or self.reading.shape in _OTHER_CELLS:
            return []
        aside = {*self.stated.missing, *self.stated.recoded, self.stated.abstain}
        return [words - aside for words in self._by_criterion()]

    def _by_criterion(self) -> Iterator[set[str]]:
        """The different cells of each criterion."""
        if self.reading.criteria:
            yield from _words_of_each(self.ratings, self.rated)
        elif "{criterion}" in self.reading.names:
            regex = pattern_regex(self.reading.names)
            matches = ((name, regex.fullmatch(name)) for name in self.rated)
            criteria = [(match["criterion"] if match else "", name) for name, match in matches]
            for criterion in dict.fromkeys(criterion for criterion, _ in criteria):
                yield _words(self.ratings, [name for c, name in criteria if c == criterion])
        elif self.reading.criterion in self.ratings.columns:
            parts = self.ratings.select(self.reading.criterion, *self.rated)
            for part in parts.partition_by(self.reading.criterion, maintain_order=True):
                yield _words(part, self.rated)
        else:
            yield _words(self.ratings, self.rated)

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Labels that may mean: not rated."""
        return () if {*self.stated.missing} - {""} else _each_once(map(codes_of, self.sets))

    @cached_property
    def abstentions(self) -> tuple[str, ...]:
        """Labels that may mean: a rater cannot judge."""
        return _each_once(map(abstentions_of, self.sets)) if self.stated.abstain is None else ()

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The labels that differ in their spelling alone, as those that they are read as."""
        return () if self.stated.recoded else _each_once(map(recodings_of, self.sets))

    @cached_property
    def of_raters(self) -> dict[str, AbstractSet[str]]:
        """Rater -> the labels of one who gave several more than once, in small letters."""
        if self.stated.recoded or not self.sets:
            return {}
        aside = {*self.stated.missing, self.stated.abstain, *self.codes, *self.abstentions}
        sets: dict[str, AbstractSet[str]] = {}
        for rater, column in _columns_of_raters(self.ratings, self.reading).items():
            texts = _words(column.to_frame("labels"), ["labels"]) - aside
            n = column.len() - column.null_count()
            if texts and 2 * len(texts) <= n and n >= _FEWEST_RATINGS:
                sets[rater] = {*map(str.casefold, texts)}
        return sets

    @cached_property
    def apart(self) -> list[AbstractSet[str]]:
        """The labels of groups of raters without a common one, in the order of the raters."""
        parts: list[AbstractSet[str]] = []
        for labels in self.of_raters.values():
            common = [part for part in parts if part & labels]
            first = parts.index(common[0]) if common else len(parts)
            joined = {*labels}.union(*common)
            parts = [part for part in parts if part not in common]
            parts.insert(first, joined)
        is_scale = all(len(part) >= FEWEST or known_pair([*part]) for part in parts)
        return parts if is_scale and len(parts) > 1 else []

    @cached_property
    def other_words(self) -> tuple[str, ...]:
        """The labels of raters who answer yes and no in other words: 'TRUE=yes'."""
        pairs = [pair for part in self.apart if (pair := known_pair([*part]))]
        if not pairs or len(pairs) < len(self.apart):
            return ()
        words = sorted(chain.from_iterable(self.sets))
        as_written = {word.casefold(): word for word in words}
        first, *others = pairs
        return tuple(
            f"{word}={as_written.get(right, right)}"
            for pair in others
            for other, right in zip(pair, first, strict=True)
            for word in words
            if word.casefold() == other
        )

    @cached_property
    def ticked(self) -> str:
        """The only label where many cells are empty, as where a box is ticked or not."""
        words = [*chain.from_iterable(self.sets)]
        if len(words) != 1 or len(self.sets) > 1:
            return ""
        cells = pl.concat(
            self.frame[name].cast(pl.String).fill_null("").alias("cell") for name in self.rated
        )
        n_empty = int((cells.str.strip_chars() == "").sum())
        return words[0] if n_empty > _EMPTY * len(cells) else ""

    def shifted(self) -> Iterator[tuple[str, str]]:
        """Raters of whom one numbers labels from 0, as it seems, and one the same from 1."""
        numbered = {
            rater: sorted(map(number_of, labels))
            for rater, labels in self.of_raters.items()
            if all(is_number(label, ".") for label in labels)
        }
        wide = _side_by_side(self.ratings, self.reading) if len(numbered) > 1 else self.frame
        for pair in combinations(numbered, 2):
            low, high = sorted(pair, key=lambda rater: numbered[rater][0])
            n = len(numbered[low])
            if numbered[low] != [*range(n)] or numbered[high] != [*range(1, n + 1)]:
                continue
            first, second = (wide[name].cast(pl.Float64, strict=False) for name in (low, high))
            n_equal, n_shifted = (int((second - first == step).sum()) for step in (0, 1))
            if n_shifted > n_equal:
                yield low, high

    def unanswered(self) -> Iterator[TranslatableMessage]:
        """What is asked and no option of a command answers."""
        labels = option("labels", example="[...]")
        if _has_names_again(self.frame, self.reading):
            yield message(
                "A row repeats the names of the columns: leave it out of the table.",
                message_id="roles.names_again",
            )
        if self.ticked:
            yield message(
                "{word} is the only label, and other cells are empty: where an empty cell is a"
                " label, such as no, write it; where it means not rated, state all labels with"
                " {labels}.",
                message_id="roles.may_be_ticked",
                word=repr(self.ticked),
                labels=labels,
            )
        # All columns are raters where that is stated, whatever they contain.
        if self.apart and not self.other_words and self.stated.layout != "wide":
            shown = [", ".join(sorted(part)[:_MOST_SHOWN]) for part in self.apart[:_MOST_SHOWN]]
            yield message(
                "Raters have no label in common ({words}): write the same labels for all, state"
                " which are the same with {recode}, or all labels with {labels}.",
                message_id="roles.no_common_labels",
                words="; ".join(shown),
                recode=option("recode", example="{...}"),
                labels=labels,
            )
        for first, second in self.shifted():
            yield message(
                "{first} and {second} may number the same labels from 0 and from 1: write the same"
                " numbers for both, or state all labels with {labels}.",
                message_id="roles.may_be_shifted",
                first=shortened(first),
                second=shortened(second),
                labels=labels,
            )


def _each_once(parts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(parts)))


def _words(frame: pl.DataFrame, names: Collection[str]) -> set[str]:
    """The different cells of some columns that have a value."""
    return set[str]().union(*_words_of_each(frame, names))


def _words_of_each(frame: pl.DataFrame, names: Collection[str]) -> Iterator[set[str]]:
    """The different cells of each of some columns that have a value."""
    # One query for all columns: each costs more than the cells of a small table.
    cells = frame[[*names]].select(pl.all().drop_nulls().unique().implode()) if names else frame
    empty = NO_CELL - NO_ANSWER
    for name in names:
        texts = (str(value).strip() for value in cells[name][0])
        yield {text for text in texts if text.casefold() not in empty}


_FEWEST_RATINGS = 5
"""Ratings of a rater from which on it is no chance that no other has the same labels."""


def _columns_of_raters(frame: pl.DataFrame, reading: TableReading) -> dict[str, pl.Series]:
    """Rater -> the cells of one; none where raters are not distinguished, or very many."""
    if reading.shape == "wide":
        return {name: frame[name] for name in reading.rated if name in frame.columns}
    if reading.shape != "long" or reading.rater is None or len(reading.rated) != 1:
        return {}
    if reading.criterion is not None or frame[reading.rater].n_unique() > _MOST_RATERS:
        return {}
    parts = frame.partition_by(reading.rater, as_dict=True, maintain_order=True)
    return {str(key[0]): part[reading.rated[0]] for key, part in parts.items()}


_MOST_RATERS = 50
"""Raters up to which their labels are compared."""


def _side_by_side(frame: pl.DataFrame, reading: TableReading) -> pl.DataFrame:
    """The ratings with a column for each rater."""
    if reading.shape == "wide" or reading.rater is None:
        return frame
    key = [*reading.units, reading.rater]
    once = frame.unique(key, keep="first", maintain_order=True)
    # A rater may be called like a column of units.
    units = {name: f"\x1funit {n}" for n, name in enumerate(reading.units)}
    return once.rename(units).pivot(
        on=reading.rater, index=[*units.values()], values=reading.rated[0]
    )


_EMPTY = 0.1
"""The share of empty cells up to which they are hardly a label."""
_MOST_SHOWN = 6
"""Labels that a sentence names."""
