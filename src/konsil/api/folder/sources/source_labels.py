"""Labels of a source that the scales of its study do not explain: codes and other spellings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from konsil.analysis.roles.label_codes import alike, codes_among
from konsil.analysis.roles.questions.labels import label_questions
from konsil.api.folder.sources.source_keys import UNKNOWN, ended, refusal
from konsil.instrument import Criterion, Instrument, LabelError, read_label
from konsil.records import Source
from konsil.records.numerals import is_number, number_of
from konsil.sources.files.table import Table
from konsil.sources.tables.columns import Columns, column, resolve
from konsil.sources.tables.longform import MAY_BE_MISSING
from konsil.sources.tables.lookalikes import FIELDS_OF

_LIKE_MISSING = frozenset(
    {"nan", "na", "n/a", "#n/a", "<na>", "null", "none", "nil", "missing", "-", "--", "–", "—", "."}
)
"""Words off a scale that usually mean: not rated."""
_SHOWN = 6
"""Words of a criterion that are listed."""


@dataclass(frozen=True)
class LabelKeys:
    """What states the labels of a source that may be none: keys, and what is asked."""

    source: Source
    """The source with the keys."""
    questions: tuple[str, ...] = ()
    """What the keys reply to, and labels for which there is no reply; empty: nothing is asked."""


@dataclass(frozen=True)
class _Unclear:
    """The words of a criterion that may be none of its labels."""

    codes: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)
    """Word -> the label that differs in case or spaces alone."""
    unread: tuple[str, ...] = ()
    """What is wrong with each other word."""
    has_numbers: bool = False

    @property
    def meanings(self) -> dict[str, str]:
        """Word -> the label that it is, or nothing."""
        return {**dict.fromkeys(self.codes, ""), **self.spellings}


def label_keys(table: Table, source: Source, instruments: Sequence[Instrument]) -> LabelKeys:
    """The source with keys for its codes and spellings, and what has to be asked of them.

    A word that a scale has is a label by declaration, as is a number within the bounds of a scale.
    What the source translates is a statement, and texts are what they are.
    """
    if source.records != "ratings" or not instruments:
        return LabelKeys(source)
    columns = resolve(table, source, FIELDS_OF["ratings"])
    words = _words(table, source, columns)
    criteria = [criterion for form in instruments for criterion in form.criteria]
    rated = [criterion for criterion in criteria if criterion.scale.kind != "text"]
    unclear = {
        name: _unclear(of_it, [c for c in criteria if c.id == name] or rated, source)
        for name, of_it in words.items()
    }
    if not any(each.codes or each.spellings for each in unclear.values()):
        return LabelKeys(source)
    keys = _with_keys(source, words, unclear, _words_beside(table, columns))
    return LabelKeys(keys, tuple(_questions(keys, unclear)))


def refuse_unclear_labels(table: Table, source: Source, instruments: Sequence[Instrument]) -> None:
    """Refuse a table whose columns are known with keys for labels that may be none."""
    keys = label_keys(table, source, instruments)
    if keys.questions:
        raise refusal(table, [keys.source], None, keys.questions)


def explained_by(
    table: Table, names: Sequence[str], source: Source, instruments: Sequence[Instrument]
) -> set[str]:
    """The criteria whose scales have all labels of some columns, as keys may state them."""
    words = {
        cell
        for name in names
        for cell in table.frame[name].str.strip_chars().unique().drop_nulls()
        if cell and cell not in source.missing
    }
    criteria = [criterion for form in instruments for criterion in form.criteria]
    choices = [criterion for criterion in criteria if criterion.scale.kind != "text"]
    return {c.id for c in choices if not _unclear(words, [c], source).unread}


def _with_keys(
    source: Source,
    words: Mapping[str | None, Collection[str]],
    unclear: Mapping[str | None, _Unclear],
    other_cells: Collection[str],
) -> Source:
    """The source with keys for all criteria where they agree on a word, else for each of them.

    `other_cells`: cells of other fields, which a word in `missing` would empty, too.
    """
    labels_of = {name: dict(of_it) for name, of_it in source.labels_of.items()}
    missing: dict[str, None] = dict.fromkeys(source.missing)
    labels = dict(source.labels)
    for name, each in unclear.items():
        for word, label in each.meanings.items():
            others = (unclear[other] for other in words if word in words[other])
            is_same = all(other.meanings.get(word) == label for other in others)
            if name is not None and not (is_same and (label or word not in other_cells)):
                labels_of.setdefault(name, {})[word] = label
            elif label:
                labels[word] = label
            else:
                missing[word] = None
    return replace(source, missing=tuple(missing), labels=labels, labels_of=labels_of)


def _questions(keys: Source, unclear: Mapping[str | None, _Unclear]) -> Iterator[str]:
    """What is asked of the words for which a source has keys, and what is wrong with others."""
    codes = sorted({code for each in unclear.values() for code in each.codes}, key=_in_order)
    spellings = {w: label for each in unclear.values() for w, label in each.spellings.items()}
    answers = {
        "missing": codes,
        "recode": [f"{word}={label}" for word, label in spellings.items()],
    }
    names = {
        "missing": "missing" if {*codes} <= {*keys.missing} else "labels_of",
        "recode": "labels" if spellings.keys() <= keys.labels.keys() else "labels_of",
    }
    has_numbers = any(each.has_numbers for each in unclear.values())
    scale = "scale.low, scale.high" if has_numbers else "scale.labels"
    answers_of_kind = {name: values for name, values in answers.items() if values}
    yield from map(str, label_questions(answers_of_kind, names, scale))
    yield from dict.fromkeys(text for each in unclear.values() for text in each.unread)


def _in_order(word: str) -> tuple[bool, float, str]:
    return (True, number_of(word), word) if is_number(word, ".") else (False, 0.0, word)


def rated_cells(
    table: Table, source: Source, columns: Columns
) -> list[tuple[str, pl.Expr, pl.Expr]]:
    """The columns of labels but those of replies: heading, criterion of each row, and cells."""
    criterion = columns.expression("criterion")
    replied = tuple(f"{name}." for name in source.replies)
    wide = [(name, pl.lit(criterion_id)) for name, criterion_id in source.criteria.items()]
    wide = wide or [(name, criterion) for name in source.raters]
    if not wide and "label" in columns:
        heading = columns.called("label")
        has_replies = bool(replied) and heading.startswith(replied)
        return [] if has_replies else [(heading, criterion, columns.expression("label"))]
    key = "criteria" if source.criteria else "raters"
    headings = ((column(table, name, key), of_criterion) for name, of_criterion in wide)
    return [
        (name, of_criterion, pl.col(name))
        for name, of_criterion in headings
        if not (replied and name.startswith(replied))
    ]


def _words(table: Table, source: Source, columns: Columns) -> dict[str | None, set[str]]:
    """Criterion -> the words of the file that are to be its labels, without those of replies."""
    words: defaultdict[str | None, set[str]] = defaultdict(set)
    for _, of_criterion, cells in rated_cells(table, source, columns):
        different = table.frame.select(
            of_criterion.alias("criterion"), cells.str.strip_chars().alias("word")
        ).unique()
        for identifier, word in different.drop_nulls("word").iter_rows():
            name = None if identifier == UNKNOWN else identifier
            is_stated = word in source.missing or word in source.labels
            if word and not is_stated and word not in source.labels_of.get(name or "", ()):
                words[name].add(word)
    return words


def _words_beside(table: Table, columns: Columns) -> set[str]:
    """The cells of fields that `missing` empties beside labels."""
    fields = [name for name in MAY_BE_MISSING if name != "label" and name in columns.of]
    cells = [table.frame.select(columns.expression(name)).to_series().unique() for name in fields]
    return {word for values in cells for word in values.drop_nulls()}


def _unclear(words: Collection[str], criteria: Sequence[Criterion], source: Source) -> _Unclear:
    """Which words of a criterion may be none of its labels; `criteria` are those of its name."""
    if not criteria or any(criterion.scale.kind == "text" for criterion in criteria):
        return _Unclear()
    off = dict(_off_scale(sorted(words), criteria))
    options = {option for criterion in criteria for option in criterion.scale.options()}
    has_codes = bool({*source.missing} - {""})
    doubtful = {*off} | {w for w in words if not has_codes and _is_unbounded(w, criteria)}
    numbers = [word for word in {*words, *options} if is_number(word, ".")]
    codes = [word for word in codes_among(numbers) if word in doubtful]
    codes += [word for word in off if word.casefold() in _LIKE_MISSING]
    spellings: dict[str, str] = {}
    for word in off.keys() - {*codes}:
        same = [option for option in sorted(options) if alike([word, option])]
        if len(same) == 1:
            spellings[word] = same[0]
    others = [text for word, text in off.items() if word not in codes and word not in spellings]
    return _Unclear(
        tuple(codes),
        dict(sorted(spellings.items())),
        tuple(map(ended, others[:_SHOWN])),
        bool(codes) and any(criterion.scale.kind == "number" for criterion in criteria),
    )


def _off_scale(words: Collection[str], criteria: Sequence[Criterion]) -> Iterator[tuple[str, str]]:
    """The words that no scale has, and what is wrong with each."""
    for word in words:
        if problem := off_scale_problem(criteria, word):
            yield word, problem


def off_scale_problem(criteria: Sequence[Criterion], label: str) -> str:
    """Why no criterion reads this label; empty where one does, or where there is none."""
    problem = ""
    for criterion in criteria:
        try:
            read_label(criterion, label)
        except LabelError as error:
            problem = problem or str(error)
        else:
            return ""
    return problem


def _is_unbounded(word: str, criteria: Sequence[Criterion]) -> bool:
    """Whether a number is on a scale only because the scale states no bound on its side."""
    if not is_number(word, "."):
        return False
    side = "low" if number_of(word) < 0 else "high"
    scales = [criterion.scale for criterion in criteria]
    return all(s.kind == "number" and getattr(s, side) is None for s in scales)
