"""Contradictions between the settings of an analysis.

They are detected when the protocol is read, not when the numbers are due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from konsil.analysis.cases.case_rules import case_contradictions
from konsil.analysis.estimation.raters.consensus_rules import averaged
from konsil.analysis.model.catalogue.entry import DISPLAY
from konsil.analysis.model.catalogue.keys import misplacement
from konsil.analysis.model.catalogue.known import (
    OF_TWO_RATERS,
    RATER_PAIR,
    WEIGHTS,
    statistic_of,
)
from konsil.analysis.model.catalogue.limits import NO_CONSENSUS
from konsil.analysis.model.options import AgreementOptions, ShareOptions, keys_of
from konsil.analysis.model.spec import Analysis
from konsil.analysis.model.verdicts import has_margin
from konsil.analysis.pairs.pair_rules import (
    CRITERION,
    compares_systems,
    pair_contradictions,
    takes_criteria,
)
from konsil.analysis.running.sensitivity.omission_rules import omission_problems
from konsil.errors import nearest


def contradictions(analysis: Analysis) -> Iterator[str]:
    """Each contradiction as 'key: what is wrong', to which the caller adds the place.

    What the catalogue states of the statistic comes before the rules of all statistics and those of
    its family. An unknown statistic has no contradictions: its name is what is wrong.

    >>> list(contradictions(Analysis("a", "share", "correct", "experts")))
    ['of: is empty; a proportion needs the categories of interest']
    """
    entry = statistic_of(analysis.statistic)
    if not entry.family:
        return  # it is misspelt: what it takes is not known
    yield from misplaced_keys(analysis)
    yield from analysis.options.problems()
    yield from entry.limits.problems(analysis.stated())
    yield from _groups(analysis)
    if analysis.against is not None and not entry.has_own_panel:
        yield from _against(analysis)
    yield from FAMILY_RULES.get(entry.family, _no_rules)(analysis)
    yield from omission_problems(analysis, entry.family)
    if analysis.margin is not None and not analysis.margin > 0:
        yield f"margin: expected a number above 0, got {analysis.margin:g}"
    elif analysis.margin is not None and not has_margin(analysis):
        yield (
            f"margin: applies to differences only, and {analysis.statistic!r} has none with"
            " these settings"
        )


def misplaced_keys(analysis: Analysis) -> Iterator[str]:
    """Each key that the family takes and the statistic does not, as 'key: what is wrong'.

    >>> options = ShareOptions(of=("yes",))
    >>> list(misplaced_keys(Analysis("a", "mean", "correct", "experts", options=options)))
    ["of: belongs to the statistics 'share' and 'relative_difference', not to 'mean'"]
    """
    entry, options = statistic_of(analysis.statistic), analysis.options
    default = type(options)()
    stated = [
        key for key in keys_of(type(options)) if getattr(options, key) != getattr(default, key)
    ]
    stated += [DISPLAY] if analysis.display != "any" else []
    for key in stated:
        if not entry.takes(key):
            yield f"{key}: {misplacement(key, analysis.statistic)}"


def _groups(a: Analysis) -> Iterator[str]:
    entry = statistic_of(a.statistic)
    for n, column in enumerate(a.by):
        if column in a.by[:n]:
            yield f"by[{n}]: {column!r} occurs twice"
    if (
        a.compare
        and a.compare not in (*a.by, entry.row_of)
        and not (compares_systems(a) or (a.compare == CRITERION and takes_criteria(a)))
    ):
        yield f"compare: {a.compare!r} is not one of by = {list(a.by)}"
    if a.test == "flip" and not a.compare and not entry.is_flipped:
        yield "test: 'flip' needs two groups; state them with compare"
    if a.test == "flip" and a.cluster == "rater" and a.compare:
        yield (
            "test: 'flip' exchanges the groups within whole items or cases; with raters as"
            " clusters use"
            " 'interval'"
        )
    if RATER_PAIR in a.by and (not entry.is_among_raters or a.against is not None):
        yield (
            f"by: {RATER_PAIR!r} forms a group for each pair of raters and needs a statistic of"
            " inter-rater agreement"
        )


def _no_rules(_analysis: Analysis) -> Iterator[str]:
    yield from ()


def _agreement(a: Analysis) -> Iterator[str]:
    weights = a.options_as(AgreementOptions).weights
    if weights and weights not in WEIGHTS:
        yield (
            f"weights: {weights!r} is not one of {', '.join(WEIGHTS)}; {nearest(weights, WEIGHTS)}"
        )
    if statistic_of(a.statistic).is_among_raters and a.consensus != "none" and not averaged(a):
        yield f"consensus: {NO_CONSENSUS.reason.format(statistic=a.statistic)}"


def _shares(a: Analysis) -> Iterator[str]:
    options, line = a.options_as(ShareOptions), a.options_as(ShareOptions).pass_line
    has_majority = a.consensus == "majority" or statistic_of(a.statistic).needs_majority
    if options.tiebreak and not has_majority:
        yield "tiebreak: applies to a majority only; expected consensus = 'majority'"
    if a.statistic == "relative_difference" and a.consensus != "majority":
        yield (
            "consensus: 'relative_difference' divides proportions of majorities; expected"
            f" 'majority', got {a.consensus!r}"
        )
    for column in options.reference:
        if column not in a.by:
            yield f"reference: {column!r} is not one of by = {list(a.by)}"
    is_of_labels = statistic_of(a.statistic).takes("of")
    if line is not None and is_of_labels and not 0 <= line <= 1:
        yield f"pass_line: expected a proportion between 0 and 1, got {line:g}"


def _against(a: Analysis) -> Iterator[str]:
    if not statistic_of(a.statistic).is_of_two_raters and not averaged(a):
        yield (
            f"statistic: {a.statistic!r} does not compare a rater with a consensus (against ="
            f" {a.against!r}); {nearest(a.statistic, OF_TWO_RATERS)}"
        )
    if a.against == a.raters:
        yield (
            f"against: {a.against!r} is the panel itself; against = 'rest' compares each rater with"
            " the others"
        )
    if a.against != "rest" and a.cluster == "rater":
        yield (
            "cluster: judges are compared with a panel on the same items; expected 'item' or"
            " 'case', got 'rater'"
        )


FAMILY_RULES: Mapping[str, Callable[[Analysis], Iterator[str]]] = MappingProxyType(
    {
        "agreement": _agreement,
        "shares": _shares,
        "pairs": pair_contradictions,
        "cases": case_contradictions,
    }
)
"""Family -> the rules between several settings that no entry of the catalogue can state alone."""
