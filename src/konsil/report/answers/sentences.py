"""The answer to a question in one sentence, from the rows of its analysis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from konsil.analysis import Analysis, Row
from konsil.analysis.estimation.targets import ONLY_THESE
from konsil.analysis.model.catalogue.known import OF_ZERO
from konsil.analysis.model.verdicts import POWER, detectable_difference
from konsil.analysis.running.question_kinds import is_of_estimates
from konsil.errors.message import TranslatableMessage, message
from konsil.report.answers.sentence_parts import (
    Query,
    counted_groups,
    evidence,
    group_name,
    groups_in_words,
    judgement,
    names_listed,
    names_of,
    reason_of,
)
from konsil.report.material.comparisons import Comparison, comparisons, main_comparison
from konsil.report.material.table_rows import join
from konsil.report.material.translate import message_of

MOST_NAMED = 3
"""Comparisons of a question that are named each; of more, the number is stated."""


def answer(query: Query) -> str:
    """The answer in one sentence, in the report's language.

    What the analysis itself concludes (`Row.finding`) comes first; then differences between groups;
    then estimates. What cannot be estimated is said to be so, with the reason.
    """
    findings = list(dict.fromkeys(row.finding for row in query.rows if row.finding))
    if findings:
        texts = [query.numbers.translated(finding) for finding in findings]
        notes = {message_of(w) for row in query.rows if row.finding for w in row.warnings}
        of_these = [query.numbers.translated(_only_these())] if ONLY_THESE in notes else []
        return " ".join([*texts, *_number_behind(query), *of_these])
    compared = comparisons(query.rows, query.spec, query.draws)
    if is_of_estimates(query.spec) and query.estimates:
        sentence = _estimates(query)
    elif compared and compared[0].row.kind == "difference":
        sentence = _between_groups(query, compared)
    elif compared:
        sentence = _against_zero(query, compared)
    else:
        sentence = _estimates(query)
    beside = _scope_and_power(query, main_comparison(compared)) if compared else ()
    return " ".join(query.numbers.translated(part) for part in (sentence, *beside))


def _quantity(query: Query, *parts: str) -> str:
    """What a number is about: the quantity, parts that name it, and whose judgement it is."""
    return ", ".join(filter(None, (query.quantity, *parts, judgement(query))))


def _scope_and_power(query: Query, main: Comparison) -> Iterator[TranslatableMessage]:
    """What follows on a comparison: whether it holds for other raters; what could have been shown.

    Nothing where it was not tested.
    """
    if main.support in {"shown", "equivalent", "these only"}:
        single = main.by_single_ratings
        if single is not None:
            yield _of_single_ratings(query, main, single)
        elif ONLY_THESE in map(message_of, main.row.warnings):
            yield _only_these()
        if single is not None and main.support == "these only":
            yield from _detectable(query, single)
    elif main.support == "not shown":
        yield from _detectable(query, *filter(None, (main.row, main.by_single_ratings)))


def _only_these() -> TranslatableMessage:
    return message(
        "This is about these raters only; it is not estimable for raters like these.",
        message_id="answer.only_these",
    )


def _of_single_ratings(query: Query, main: Comparison, single: Row) -> TranslatableMessage:
    """The single ratings behind majorities, and whether they show the difference too."""
    values = {
        "difference": query.unit.difference(single.estimate.value),
        "evidence": evidence(query, single, single.estimate.low, single.estimate.high),
    }
    if main.support == "these only":
        return message(
            "This difference is about these raters only: for raters like these no difference was"
            " shown; by single ratings, {difference} {evidence}.",
            message_id="answer.these_by_single_ratings",
            **values,
        )
    return message(
        "For raters like these, by single ratings: {difference} {evidence}.",
        message_id="answer.by_single_ratings",
        **values,
    )


def _detectable(query: Query, *rows: Row) -> Iterator[TranslatableMessage]:
    """The smallest difference that the design could have shown; none after interim looks.

    Of a difference and the single ratings behind it both have to show it: the larger one.
    """
    difference = max(detectable_difference(row.estimate) for row in rows)
    is_sequential = "interim.not_reached_row" in map(message_of, rows[0].warnings)
    if math.isfinite(difference) and not is_sequential:
        yield message(
            "With {power:.0%} power, by its standard error and before adjustment, the design could"
            " have shown a difference of {difference} or more.",
            message_id="answer.detectable",
            power=POWER,
            difference=query.unit.difference(difference),
        )


def further(query: Query) -> str:
    """How many of several comparisons showed a difference, or equivalence; empty where none did.

    Up to MOST_NAMED comparisons are named, unless all showed the same. Where the question asks for
    the estimates, what the comparison of their groups supports comes first.
    """
    compared = comparisons(query.rows, query.spec, query.draws)
    n = len(compared)
    shown, equivalent, of_these = (
        [c for c in compared if c.support == name] for name in ("shown", "equivalent", "these only")
    )
    sentences = []
    if is_of_estimates(query.spec) and compared and compared[0].row.kind == "difference":
        sentences.append(_between_groups(query, compared))
    if shown and n > 1:
        sentences.append(
            message(
                "{shown:,} of {n:,} comparisons showed a difference after adjustment{pairs}.",
                message_id="answer.of_comparisons",
                shown=len(shown),
                n=n,
                pairs=_pairs(query, shown, n),
            )
        )
    if equivalent and n > 1:
        sentences.append(
            message(
                "{equivalent:,} of {n:,} comparisons showed equivalence{pairs}.",
                message_id="answer.of_equivalent",
                equivalent=len(equivalent),
                n=n,
                pairs=_pairs(query, equivalent, n),
            )
        )
    if of_these and n > 1:
        sentences.append(
            message(
                "{some:,} of {n:,} comparisons {some|has|have} a difference after adjustment that"
                " is about these raters only{pairs}.",
                message_id="answer.of_these_only",
                some=len(of_these),
                n=n,
                pairs=_pairs(query, of_these, n),
            )
        )
    return " ".join(map(query.numbers.translated, sentences))


def _number_behind(query: Query) -> Iterator[str]:
    """The one estimate that a conclusion rests on, where it rests on one."""
    if len(query.estimates) == 1:
        yield query.numbers.translated(_single(query, query.estimates[0], _quantity(query)))


def _single(query: Query, row: Row, quantity: str) -> TranslatableMessage:
    """One estimate with its evidence."""
    return message(
        "{quantity}: {value} {evidence}.",
        message_id="answer.single",
        quantity=quantity,
        value=query.unit.value(row.estimate.value),
        evidence=evidence(query, row, row.estimate.low, row.estimate.high),
    )


def _pairs(query: Query, some: Sequence[Comparison], n: int) -> str:
    """The comparisons by their groups, after a colon; empty where all are meant or too many."""
    rows = [c.row for c in some]
    if len(some) == n or n > MOST_NAMED or any(row.kind != "difference" for row in rows):
        return ""
    named = [names_of(query, row.group, _subtracted(query, row)[0]) for row in rows]
    return ": " + ", ".join(
        f"{first} \N{MINUS SIGN} {second}" + (f" ({shared})" if shared else "")
        for shared, first, second in named
    )


def _between_groups(query: Query, compared: Sequence[Comparison]) -> TranslatableMessage:
    main = main_comparison(compared)
    subtracted, benchmark = _subtracted(query, main.row)
    first, second = _value(query, main.row.group), benchmark
    shared, name, subtracted_name = names_of(query, main.row.group, subtracted)
    if first is not None and second is not None:
        name = f"{name} ({query.unit.value(first)})"
        subtracted_name = f"{subtracted_name} ({query.unit.value(second)})"
    values = {
        "quantity": _quantity(query),
        "a": name,
        "b": subtracted_name,
        "difference": query.unit.difference(main.value),
        "evidence": evidence(query, main.row, main.low, main.high),
    }
    n = len(compared)
    if n > 1 and main.support == "not shown":
        return _none_shown(n, shared, values)
    if n > 1 and main.support == "described" and (contrast := _one_contrast(query, compared)):
        return _described_range(query, compared, contrast)
    if shared:
        values["quantity"] = _quantity(query, shared)
    if main.support in {"shown", "these only"}:
        return _shown(query, main.value, values, is_within=bool(shared))
    if main.support == "equivalent":
        return message(
            "{quantity}: {a} and {b} are equivalent within ±{margin}; difference,"
            " {difference} {evidence}.",
            message_id="answer.equivalent",
            margin=query.unit.difference(query.spec.margin or 0.0),
            **{**values, "evidence": _of_equivalence(query, main)},
        )
    if main.support == "described":
        return message(
            "{quantity}: {a} against {b}; difference, {difference} {evidence}, without a test that"
            " is adjusted for multiple testing.",
            message_id="answer.described",
            **values,
        )
    if main.support == "not judged":
        return message(
            "{quantity}: {a} against {b}; difference, {difference}; no conclusion about the"
            " difference: {reason}.",
            message_id="answer.not_judged",
            reason=reason_of(query, main.row),
            **values,
        )
    return message(
        "{quantity}: no difference was shown between {a} and {b}; difference, {difference}"
        " {evidence}.",
        message_id="answer.not_shown",
        **values,
    )


def _one_contrast(query: Query, compared: Sequence[Comparison]) -> tuple[str, str] | None:
    """The two groups that are compared in each of several others; None where they are not alike."""
    pairs = {names_of(query, c.row.group, c.row.versus) for c in compared}
    sides = {(first, second) for shared, first, second in pairs if shared}
    return sides.pop() if len(sides) == 1 and len(pairs) == len(compared) else None


def _described_range(
    query: Query, compared: Sequence[Comparison], contrast: tuple[str, str]
) -> TranslatableMessage:
    """The least and the greatest of differences that were not tested."""
    ordered = sorted(compared, key=lambda c: c.value)
    low, high = ordered[0], ordered[-1]
    return message(
        "{quantity}: {a} minus {b} is from {low} for {lowest} {low_evidence} to {high} for"
        " {highest} {high_evidence}, without a test that is adjusted for multiple testing.",
        message_id="answer.described_range",
        quantity=query.quantity,
        a=contrast[0],
        b=contrast[1],
        low=query.unit.difference(low.value),
        lowest=names_of(query, low.row.group, low.row.versus)[0],
        low_evidence=evidence(query, low.row, low.low, low.high),
        high=query.unit.difference(high.value),
        highest=names_of(query, high.row.group, high.row.versus)[0],
        high_evidence=evidence(query, high.row, high.low, high.high),
    )


def _none_shown(n: int, shared: str, values: Mapping[str, str]) -> TranslatableMessage:
    """No difference in any of several comparisons: the largest estimate, with what both share."""
    if shared:
        return message(
            "{quantity}: no difference was shown in any of {n:,} comparisons; the largest"
            " difference ({shared}) is between {a} and {b}, {difference} {evidence}.",
            message_id="answer.none_shown_shared",
            n=n,
            shared=shared,
            **values,
        )
    return message(
        "{quantity}: no difference was shown in any of {n:,} comparisons; the largest"
        " difference is between {a} and {b}, {difference} {evidence}.",
        message_id="answer.none_shown",
        n=n,
        **values,
    )


def _shown(
    query: Query, difference: float, values: Mapping[str, str], *, is_within: bool
) -> TranslatableMessage:
    """A difference that was shown, in the order and with the sign of its row.

    Of groups within a part of the answers the quantity names that part.
    """
    if _is_of_systems(query.spec) and not is_within:
        words = {
            "labels": ", ".join(query.spec.options.labels_counted),
            "judgement": judgement(query) or "",
        }
        if difference < 0:
            return message(
                "Fewer answers of {a} than of {b} were rated “{labels}” {judgement}: difference,"
                " {difference} {evidence}.",
                message_id="answer.fewer_answers",
                **words,
                **values,
            )
        return message(
            "More answers of {a} than of {b} were rated “{labels}” {judgement}: difference,"
            " {difference} {evidence}.",
            message_id="answer.more_answers",
            **words,
            **values,
        )
    if difference < 0:
        return message(
            "{quantity}: lower for {a} than for {b}; difference, {difference} {evidence}.",
            message_id="answer.lower",
            **values,
        )
    return message(
        "{quantity}: higher for {a} than for {b}; difference, {difference} {evidence}.",
        message_id="answer.higher",
        **values,
    )


def _is_of_systems(spec: Analysis) -> bool:
    """Whether a difference is about how many answers of two systems have a label."""
    return spec.statistic == "share" and spec.compare == "system" and spec.consensus == "majority"


def _against_zero(query: Query, compared: Sequence[Comparison]) -> TranslatableMessage:
    main = main_comparison(compared)
    values = {
        "quantity": _quantity(query),
        "name": group_name(query, main.row.group),
        "value": query.unit.difference(main.value),
        "evidence": evidence(query, main.row, main.low, main.high),
    }
    if main.support in {"shown", "these only"}:
        shown = [c for c in compared if c.support == main.support]
        above = names_listed(query, [c.row for c in shown if c.value > 0])
        below = names_listed(query, [c.row for c in shown if c.value < 0])
        if above.parts and below.parts:
            return message(
                "{quantity}: above 0 for {above}, below 0 for {below}; farthest from 0 for {name},"
                " {value} {evidence}.",
                message_id="answer.above_and_below_zero",
                above=above,
                below=below,
                **values,
            )
        if above.parts:
            return message(
                "{quantity}: above 0 for {above}; farthest from 0 for {name}, {value} {evidence}.",
                message_id="answer.above_zero",
                above=above,
                **values,
            )
        return message(
            "{quantity}: below 0 for {below}; farthest from 0 for {name}, {value} {evidence}.",
            message_id="answer.below_zero",
            below=below,
            **values,
        )
    if main.support == "equivalent":
        return message(
            "{quantity}: equivalent to 0 within ±{margin} for {name}, {value} {evidence}.",
            message_id="answer.equivalent_to_zero",
            margin=query.unit.difference(query.spec.margin or 0.0),
            **{**values, "evidence": _of_equivalence(query, main)},
        )
    if main.support == "not shown" and len(compared) == 1:
        return message(
            "{quantity}: no difference from 0 was shown for {name}, {value} {evidence}.",
            message_id="answer.not_from_zero",
            **values,
        )
    if main.support == "not shown":
        return message(
            "{quantity}: no difference from 0 was shown for any of {groups}; farthest from 0 for"
            " {name}, {value} {evidence}.",
            message_id="answer.none_from_zero",
            groups=counted_groups(query, [c.row for c in compared]),
            **values,
        )
    return _estimates(query)


def _estimates(query: Query) -> TranslatableMessage:
    rows = sorted(query.estimates, key=lambda r: r.estimate.value)
    if not rows:
        return message(
            "{quantity}: not estimable ({reason}).",
            message_id="answer.not_estimable",
            quantity=_quantity(query),
            reason=next((reason_of(query, r) for r in query.rows), "")
            or message("there are no ratings", message_id="answer.no_ratings"),
        )
    overall = next((r for r in rows if not r.group), None) or (
        rows[0] if len(rows) == 1 else _out_of_bag(rows)
    )
    if overall is not None:
        # Who judged is named already where the number is about these raters.
        name = group_name(query, overall.group) or ("" if judgement(query) else query.spec.raters)
        return _single(query, overall, _quantity(query, name))
    low, high = rows[0], rows[-1]
    ends = {
        "quantity": _quantity(query),
        "low": query.unit.value(low.estimate.value),
        "lowest": group_name(query, low.group),
        "low_evidence": evidence(query, low, low.estimate.low, low.estimate.high),
        "high": query.unit.value(high.estimate.value),
        "highest": group_name(query, high.group),
        "high_evidence": evidence(query, high, high.estimate.low, high.estimate.high),
    }
    if any(r.kind == "difference" for r in query.rows) and len(rows) == 2:
        return message(
            "{quantity}: {high} for {highest} {high_evidence} and {low} for {lowest}"
            " {low_evidence}.",
            message_id="answer.two_compared",
            **ends,
        )
    if any(r.kind == "difference" for r in query.rows):
        return message(
            "{quantity}: from {low} for {lowest} {low_evidence} to {high} for {highest}"
            " {high_evidence}.",
            message_id="answer.range_compared",
            **ends,
        )
    if query.spec.statistic in OF_ZERO:
        return message(
            "{quantity}: from {low} for {lowest} {low_evidence} to {high} for {highest}"
            " {high_evidence}; differences from 0 were not tested.",
            message_id="answer.zero_not_tested",
            **ends,
        )
    if len(rows) == 2:
        return message(
            "{quantity}: {high} for {highest} {high_evidence} and {low} for {lowest}"
            " {low_evidence}; the difference was not tested.",
            message_id="answer.two",
            **ends,
        )
    return message(
        "{quantity}: from {low} for {lowest} {low_evidence} to {high} for {highest}"
        " {high_evidence}; differences between {groups} were not tested.",
        message_id="answer.range",
        groups=groups_in_words(rows),
        **ends,
    )


def _of_equivalence(query: Query, main: Comparison) -> str:
    """The evidence without the p value, which is that of another hypothesis: no difference."""
    return evidence(query, replace(main.row, p_adjusted=math.nan), main.low, main.high)


def _value(query: Query, group: Mapping[str, str]) -> float | None:
    """The estimate of a group, or of the benchmark that a group is compared with."""
    return next(
        (
            r.estimate.value
            for r in query.rows
            if r.kind != "difference" and r.group == group and math.isfinite(r.estimate.value)
        ),
        None,
    )


def _subtracted(query: Query, row: Row) -> tuple[Mapping[str, str], float | None]:
    """The group subtracted and its estimate; of a judge's ceiling the benchmark of its row."""
    value = _value(query, row.versus)
    if value is None:
        lines = [j for j in join(query.rows) if j.row.kind == "estimate" and j.benchmark]
        for line in lines:
            if line.row.group == row.group and line.benchmark is not None:
                return line.benchmark.group, line.benchmark.estimate.value
    return row.versus, value


def _out_of_bag(rows: Sequence[Row]) -> Row | None:
    """Of ensembles the best one without the bias of its choice."""
    return next((r for r in rows if "size" in r.group and not r.group["size"]), None)
