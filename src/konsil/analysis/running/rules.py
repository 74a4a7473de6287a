"""Contradictions between the settings of an analysis.

They are detected when the protocol is read, not when the numbers are due.
"""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.cases.case_rules import case_contradictions
from konsil.analysis.designs.design_rules import averaged, design_contradictions
from konsil.analysis.model.catalogue.entry import DISPLAY
from konsil.analysis.model.catalogue.keys import misplacement
from konsil.analysis.model.catalogue.known import (
    AGREEMENT,
    BLINDING,
    CASES,
    DESIGNS,
    FLIPPED,
    INJECTION,
    JUDGING,
    OF_TWO_RATERS,
    PAIRED,
    PREFERENCE,
    RATER_PAIR,
    WEIGHTS,
    WINS,
    statistic_of,
)
from konsil.analysis.model.options import AgreementOptions, JudgeOptions, ShareOptions, keys_of
from konsil.analysis.model.spec import Analysis
from konsil.analysis.model.verdicts import has_margin
from konsil.analysis.pairs.pair_rules import CRITERION, compares_systems, pair_contradictions
from konsil.errors import nearest

_AMONG_RATERS = {*AGREEMENT, *PAIRED}


def contradictions(analysis: Analysis) -> Iterator[str]:
    """Each contradiction as 'key: what is wrong', to which the caller adds the place.

    An unknown statistic has no contradictions: its name is what is wrong.

    >>> list(contradictions(Analysis("a", "share", "correct", "experts")))
    ['of: is empty; a proportion needs the categories of interest']
    """
    if not statistic_of(analysis.statistic).family:
        return  # it is misspelt: what it takes is not known
    yield from misplaced_keys(analysis)
    yield from analysis.options.problems()
    yield from _groups(analysis)
    yield from _settings(analysis)
    if analysis.against is not None and analysis.statistic not in CASES:
        yield from _against(analysis)
    if analysis.statistic in JUDGING:
        yield from _judging(analysis)
    if analysis.statistic in BLINDING:
        yield from _blinding(analysis)
    if analysis.statistic in INJECTION:
        yield from _injection(analysis)
    yield from pair_contradictions(analysis)
    if analysis.statistic in CASES:
        yield from case_contradictions(analysis)
    if analysis.statistic in DESIGNS:
        yield from design_contradictions(analysis)
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
    ["of: belongs to the statistic 'share', not to 'mean'"]
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
    for n, column in enumerate(a.by):
        if column in a.by[:n]:
            yield f"by[{n}]: {column!r} occurs twice"
    row_of = statistic_of(a.statistic).row_of
    if (
        a.compare
        and a.compare not in (*a.by, row_of)
        and not (compares_systems(a) or (a.compare == CRITERION and a.statistic in WINS))
    ):
        yield f"compare: {a.compare!r} is not one of by = {list(a.by)}"
    if a.test == "flip" and not a.compare and a.statistic not in FLIPPED:
        yield "test: 'flip' needs two groups; state them with compare"
    if a.test == "flip" and a.cluster == "rater" and a.compare:
        yield (
            "test: 'flip' exchanges the groups within whole items or cases; with raters as"
            " clusters use"
            " 'interval'"
        )
    if RATER_PAIR in a.by and (a.statistic not in _AMONG_RATERS or a.against is not None):
        yield (
            f"by: {RATER_PAIR!r} forms a group for each pair of raters and needs a statistic of"
            " inter-rater agreement"
        )


def _settings(a: Analysis) -> Iterator[str]:
    if isinstance(a.options, ShareOptions):
        yield from _of_shares(a, a.options)
    if isinstance(a.options, AgreementOptions):
        weights = a.options.weights
        if weights and weights not in WEIGHTS:
            yield (
                f"weights: {weights!r} is not one of {', '.join(WEIGHTS)};"
                f" {nearest(weights, WEIGHTS)}"
            )
    if a.spans == "mean" and a.statistic != "mean":
        yield (
            "spans: 'mean' yields numbers; only the statistic 'mean' accepts them, not"
            f" {a.statistic!r}"
        )
    if (
        a.consensus != "none"
        and a.statistic not in {"share", "mean", "standard_deviation", *PREFERENCE, *DESIGNS}
        and not averaged(a)
    ):
        yield f"consensus: belongs to the statistics 'share' and 'mean', not to {a.statistic!r}"
    if a.consensus == "mean" and a.statistic == "share":
        yield (
            "consensus: a proportion needs labels, but a mean is a number; expected 'majority'"
            " or 'none'"
        )


def _of_shares(a: Analysis, options: ShareOptions) -> Iterator[str]:
    if a.statistic == "share" and not options.of:
        yield "of: is empty; a proportion needs the categories of interest"
    if options.tiebreak and a.consensus != "majority":
        yield "tiebreak: applies to a majority only; expected consensus = 'majority'"
    line = options.pass_line
    if line is not None and a.statistic == "share" and not 0 <= line <= 1:
        yield f"pass_line: expected a proportion between 0 and 1, got {line:g}"


def _judging(a: Analysis) -> Iterator[str]:
    if a.statistic == "abstention_slope" and not a.options_as(JudgeOptions).covariate:
        yield "covariate: is empty; a slope needs the name of a [[derived]] column"
    if a.statistic.startswith("ensembles_") and a.against in {None, "rest"}:
        yield "against: ensembles of judges are compared with a panel; state the panel"
    if a.statistic == "risk_coverage" and a.against in {None, "rest"}:
        yield "against: risk is disagreement with a panel; state the panel"
    if (
        a.statistic in {"self_preference", "family_preference"}
        and a.mode == "valid"
        and a.against in {None, "rest"}
    ):
        yield (
            "against: preference is adjusted within the label of a panel of experts; state the"
            " panel, or"
            " use mode = 'paper'"
        )
    if a.cluster == "rater" or a.compare:
        key = "cluster" if a.cluster == "rater" else "compare"
        yield f"{key}: {a.statistic!r} does not support this option"
    allowed = {"abstention_slope"}
    if a.by and a.statistic not in allowed:
        yield (
            f"by: {a.statistic!r} has a row for every judge or ensemble; other groups are not"
            " supported"
        )


def _blinding(a: Analysis) -> Iterator[str]:
    if a.compare:
        yield f"compare: {a.statistic!r} does not support this option"
    for n, column in enumerate(a.by):
        if column in {"system", "arm"}:
            yield (
                f"by[{n}]: guesses are compared with the {column}; 'blinding_bang' already has"
                " a row for each"
            )


def _injection(a: Analysis) -> Iterator[str]:
    for key in ("against", "where", "compare", "arm", "collapse", "labels"):
        if getattr(a, key):
            yield f"{key}: {a.statistic!r} does not support this option"
    for n, column in enumerate(a.by):
        if column not in {"rater", "injection"}:
            yield (
                f"by[{n}]: {a.statistic!r} has a row for each judge, with 'injection' for each"
                f" kind; got {column!r}"
            )
    if a.cluster == "rater":
        yield "cluster: each judge has a row of its own; expected 'item' or 'case', got 'rater'"
    if a.test == "flip":
        yield (
            f"test: {a.statistic!r} is tested by the test that its interval inverts; expected"
            " 'interval' or 'none'"
        )


def _against(a: Analysis) -> Iterator[str]:
    if a.statistic in {*JUDGING, *INJECTION, "rank_agreement"}:
        return
    if a.statistic in DESIGNS:
        return
    if a.statistic not in OF_TWO_RATERS and not averaged(a):
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
