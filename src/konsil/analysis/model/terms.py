"""Terms: identifiers that an analysis itself puts into a key column, and their words.

A row's group is made of names of the study's data and of terms. Figures and tables compare terms;
what a reader sees in their place comes from the table here, in the reader's language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from konsil.errors.message import TranslatableMessage, message


class Term(str):
    """An identifier with the names and numbers that belong to it; as text all joined by colons.

    >>> Term("best_out_of_bag", 7)
    'best_out_of_bag:7'
    >>> words_of(Term("best_out_of_bag", 7))
    'best of 7, out of bag'
    """

    identifier: str
    """Which term it is."""
    values: tuple[str | float, ...]
    """The names and numbers that belong to it."""

    def __new__(cls, identifier: str, *values: str | float) -> Term:
        """Join the identifier and its values."""
        term = super().__new__(
            cls, ":".join([identifier, *(v if isinstance(v, str) else f"{v:g}" for v in values)])
        )
        term.identifier, term.values = identifier, values
        return term

    def __getnewargs__(self) -> tuple[str | float, ...]:  # type: ignore[override]
        """What a copy is made from."""
        return (self.identifier, *self.values)


class Word(str):
    """A term as a reader sees it; it remembers its term, so that nothing depends on the wording."""

    term: Term
    """The term."""

    def __new__(cls, text: str, term: Term) -> Word:
        """A text for a term."""
        word = super().__new__(cls, text)
        word.term = term
        return word

    def __getnewargs__(self) -> tuple[str, Term]:  # type: ignore[override]
        """What a copy is made from."""
        return str(self), self.term


def key_of(value: str) -> str:
    """The identifier behind a value of a key column: of a word its term, a name is its own.

    >>> key_of(Word("ganze Antwort", WHOLE_ANSWER)), key_of("3")
    ('whole_answer', '3')
    """
    return value.term if isinstance(value, Word) else value


def is_term(value: str | None, term: Term) -> bool:
    """Whether a value of a key column is that term, or a word for it.

    A name of the study that reads like the term is none.

    >>> is_term(Word("ganze Antwort", WHOLE_ANSWER), WHOLE_ANSWER)
    True
    >>> is_term("whole_answer", WHOLE_ANSWER)
    False
    """
    key = None if value is None else key_of(value)
    return isinstance(key, Term) and key == term


def words_of(value: str) -> str:
    """A value of a key column in words: a term as a message, any other as it is."""
    return _WORDS[value.identifier](*value.values) if isinstance(value, Term) else value


def pair_of(first: str, second: str) -> Term:
    """Two raters, or two systems, as one value."""
    return Term("pair", first, second)


def both_raters(panel: str) -> Term:
    """The agreement of a panel's two raters: what judges are compared with."""
    return Term("both_raters", panel)


ANY_ORDER = Term("any_order")
"""A judge's ratings in any order, beside those ordered by confidence."""
ALL_SYSTEMS = Term("all_systems")
"""The systems together, in a column of systems."""
BEST_CHANCE = Term("chance_of_best")
"""The proportion of resamples in which a design is the best."""
LENIENT = Term("own_minus_peers")
"""Self-preference without the adjustment for leniency."""
LONGER, SHORTER = Term("longer"), Term("shorter")
"""Comparisons in which the system's answer is the longer, or the shorter."""
MEAN_OVER_CRITERIA = Term("mean_over_criteria")
"""The mean over the criteria, in a column of criteria."""
MINUS_EXPERTS = Term("minus_experts")
"""A judge's preference for its own system minus the experts'."""
MINUS_PEERS = Term("minus_peers")
"""The same minus that of the judges of other families."""
OTHER_SENTENCES = Term("other_sentences")
"""A part against the sentences that are not in it."""
OVERLAP_ALONE = Term("overlap_alone")
"""What part–whole overlap alone gives."""
RATIO_TO_BEST = Term("ratio_to_best")
"""A worth as a ratio to the best one."""
RECOVERED = Term("recovered")
"""Cases right at a level after they were wrong with more information."""
REST = Term("rest")
"""The ceiling subtracted from a judge: each expert against the others.

Of a panel of two raters it is named as its own row is, by `both_raters`."""
WHOLE_ANSWER = Term("whole_answer")
"""A whole answer, in a column of numbers of sentences."""


_WORDS: Mapping[str, Callable[..., TranslatableMessage]] = MappingProxyType(
    {
        "all_groups": lambda k: message("all {k} groups", message_id="term.all_groups", k=k),
        "all_systems": lambda: message("all systems", message_id="term.all_systems"),
        "any_order": lambda: message("any order", message_id="term.any_order"),
        "best_out_of_bag": lambda n: message(
            "best of {n}, out of bag", message_id="term.best_out_of_bag", n=n
        ),
        "between_levels": lambda: message("between levels", message_id="term.between_levels"),
        "between_systems": lambda: message("between systems", message_id="term.between_systems"),
        "both_raters": lambda panel: message(
            "the two raters of {panel}", message_id="term.both_raters", panel=panel
        ),
        "chance_of_best": lambda: message(
            "proportion of resamples ranked first", message_id="term.chance_of_best"
        ),
        "consent_withdrawn": lambda: message(
            "consent withdrawn", message_id="term.consent_withdrawn"
        ),
        "detector": lambda criterion: message(
            "{criterion}: agreement with labels given by hand",
            message_id="term.detector",
            criterion=criterion,
        ),
        "faster_than": lambda seconds: message(
            "faster than {seconds:g} seconds", message_id="term.faster_than", seconds=seconds
        ),
        "hidden": lambda level: message(
            "incorrect at {level}, correct with less information",
            message_id="term.hidden",
            level=level,
        ),
        "item_excluded": lambda: message(
            "item excluded by the protocol", message_id="term.item_excluded"
        ),
        "jury": lambda panel: message("jury of {panel}", message_id="term.jury", panel=panel),
        "leave_one_out": lambda panel: message(
            "{panel}, leave-one-out", message_id="term.leave_one_out", panel=panel
        ),
        "level_within": lambda system: message(
            "level within {system}", message_id="term.level_within", system=system
        ),
        "longer": lambda: message("longer", message_id="term.longer"),
        "mean_over_criteria": lambda: message(
            "mean over criteria", message_id="term.mean_over_criteria"
        ),
        "minus_experts": lambda: message("minus the experts", message_id="term.minus_experts"),
        "minus_peers": lambda: message(
            "minus the judges of other families", message_id="term.minus_peers"
        ),
        "no_time": lambda: message("no time recorded", message_id="term.no_time"),
        "other_sentences": lambda: message(
            "with the remaining sentences", message_id="term.other_sentences"
        ),
        "overlap_alone": lambda: message(
            "expected from overlap alone", message_id="term.overlap_alone"
        ),
        "own_minus_peers": lambda: message(
            "own minus peers, not adjusted for leniency", message_id="term.own_minus_peers"
        ),
        "pair": lambda a, b: message("{a} and {b}", message_id="term.pair", a=a, b=b),
        "phase_pilot": lambda: message("phase: pilot", message_id="term.phase_pilot"),
        "phase_practice": lambda: message("phase: practice", message_id="term.phase_practice"),
        "rater_excluded": lambda: message(
            "rater excluded by the protocol", message_id="term.rater_excluded"
        ),
        "ratio_to_best": lambda: message("ratio to the best", message_id="term.ratio_to_best"),
        "recovered": lambda: message("recovered", message_id="term.recovered"),
        "rest": lambda: message("leave-one-out", message_id="term.rest"),
        "shorter": lambda: message("shorter", message_id="term.shorter"),
        "system_by_level": lambda: message("system × level", message_id="term.system_by_level"),
        "whole_answer": lambda: message("whole answer", message_id="term.whole_answer"),
    }
)
"""Term -> its words, made from its values."""
