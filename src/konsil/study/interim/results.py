"""The results of a study with interim analyses: looks, and the estimate adjusted for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from konsil.analysis import Results, Row
from konsil.analysis.model.rows import AdjustedEstimate
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.errors.message import TranslatableMessage, message
from konsil.records import Event
from konsil.study.definition.interim import Interim
from konsil.study.definition.protocol import Study
from konsil.study.interim.closing import (
    at_last_analysis,
    early_warning,
    last_analysis,
    n_present,
)
from konsil.study.interim.last import ShownAnalysis, shown_analysis
from konsil.study.interim.looks import (
    Progress,
    TakenLook,
    is_amended,
    is_same_analysis,
    progress_of,
    spoilt_analyses,
    taken_looks,
)
from konsil.study.interim.other_rows import (
    after_the_last,
    before_the_last,
    exploratory,
    with_note,
    without_unadjusted_verdict,
)
from konsil.study.interim.planned_comparison import PlannedComparison, planned_comparison
from konsil.study.interim.sentences import interim_sentences, shown_sentence
from konsil.study.interim.withheld import without_groups

_SAME = 1e-6
"""Up to this difference two |z| are the same: the log has 12 digits, and machines round."""


def with_looks(
    results: Results, study: Study, data: Data, events: Sequence[Event], *, is_blinded: bool = False
) -> Results:
    """The results with the looks that were made, and the primary analysis adjusted for them.

    The tables keep the estimates of the analysis, with a note. Where looks were made and the
    analysis has no adjusted estimate, it is exploratory. So it is before the last analysis,
    whether or not a look was made, and where [interim] was changed or removed after the freeze; its
    comparison is withheld then while the study is blinded, and so is every number of a coded system
    or of a group that it compares, from which it could be inferred. With other ratings than a last
    analysis that was shown it is exploratory, too, and has neither test nor interval: further or
    fewer ones, or as many that give another |z|, such as after a correction.
    Results of studies without comparative looks stay as they are.
    """
    planned = planned_comparison(study, events)
    if planned is None:
        return replace(results, methods=(*results.methods, *interim_sentences(study, events, None)))
    if planned.interim is None:
        return _of_unknown_looks(results, study, events, planned, is_blinded=is_blinded)
    is_own = study.interim == planned.interim
    analysis = planned.interim.analysis
    progress = at_last_analysis(events, progress_of(study, planned.interim, data))
    shown = shown_analysis(events)
    early = _early(study, events, progress, planned.interim, results.rows, is_blinded=is_blinded)
    warnings = (*results.warnings, *early)
    adjusted = None
    try:
        # Neither before nor after the last analysis.
        if not early and is_own:
            adjusted = final_estimate(study, events, results.rows, progress)
    except (AnalysisError, ValueError) as error:
        unadjusted = message(
            "The analysis “{analysis}” cannot be adjusted for its interim looks, so that it is"
            " exploratory: {reason}.",
            message_id="interim.not_adjusted",
            analysis=analysis,
            reason=str(error),
        )
        warnings = (*warnings, unadjusted)
    looks_before = taken_looks(events)
    if early and shown is not None:
        results = after_the_last(results, planned)
    elif early:
        computed = results.rows
        results = before_the_last(results, planned, is_blinded=is_blinded)
        if is_blinded:
            results = without_groups(results, study, planned.compared, computed)
    elif adjusted is None and any(look.kind == "comparative" for look in looks_before):
        results = exploratory(results, planned)
    rows = results.rows
    if adjusted is not None:
        warnings = (*warnings, *_changed_plan(planned.interim.alpha, looks_before, progress))
    if adjusted is not None and len(adjusted.fractions) > 1:
        note = message(
            "Not adjusted for the interim analyses; the adjusted estimate is in the methods.",
            message_id="interim.unadjusted_row",
        )
        rows = tuple(
            with_note(row, note) if row.analysis == adjusted.analysis else row for row in rows
        )
    if adjusted is not None:
        rows = tuple(without_unadjusted_verdict(row, study, adjusted) for row in rows)
    is_stopped = last_analysis(events, progress) == "stopped"
    sentences = interim_sentences(study, events, adjusted, is_stopped=is_stopped)
    return replace(
        results,
        rows=rows,
        warnings=warnings,
        methods=(*results.methods, *sentences, *(shown_sentence(shown) if early else ())),
        sequential=adjusted,
    )


def _of_unknown_looks(
    results: Results,
    study: Study,
    events: Sequence[Event],
    planned: PlannedComparison,
    *,
    is_blinded: bool,
) -> Results:
    """The results where only a digest of other interim analyses than the protocol's was frozen.

    They are taken for comparative ones: while the study is blinded, numbers by system and by every
    group that an analysis compares are withheld.
    """
    methods = (*results.methods, *interim_sentences(study, events, None))
    if not is_blinded:
        return replace(results, methods=methods)
    warning = message(
        "[interim] is not the one of the frozen analysis plan, which states only its checksum:"
        " numbers by system and by the groups that analyses compare are withheld while the study is"
        " blinded.",
        message_id="interim.removed",
    )
    results = without_groups(results, study, planned.compared, results.rows)
    return replace(
        results,
        warnings=(*results.warnings, warning),
        methods=(*results.methods, *interim_sentences(study, events, None)),
    )


def _early(
    study: Study,
    events: Sequence[Event],
    progress: Progress,
    interim: Interim,
    rows: Sequence[Row],
    *,
    is_blinded: bool,
) -> tuple[TranslatableMessage, ...]:
    """Why these results are not the last analysis; nothing where they are."""
    warning = early_warning(interim.analysis, progress, events, is_blinded=is_blinded)
    out = () if warning is None else (warning,)
    shown = shown_analysis(events)
    if is_amended(study, events):
        is_withheld = is_blinded and shown is None
        return (*out, _amended_warning(interim.analysis, is_withheld=is_withheld))
    if out or shown is None:
        return out
    changed = _changed_warning(interim.analysis, shown, rows)
    return () if changed is None else (changed,)


def _amended_warning(analysis: str, *, is_withheld: bool) -> TranslatableMessage:
    """A warning where [interim] is missing or another one than that which was frozen."""
    if is_withheld:
        return message(
            "[interim] is not the one of the frozen analysis plan: the analysis “{analysis}” is"
            " exploratory, and no last analysis; its comparison is withheld while the study is"
            " blinded.",
            message_id="interim.amended_withheld",
            analysis=analysis,
        )
    return message(
        "[interim] is not the one of the frozen analysis plan: the analysis “{analysis}” is"
        " exploratory, and no last analysis.",
        message_id="interim.amended",
        analysis=analysis,
    )


def _changed_plan(
    alpha: float, looks: Sequence[TakenLook], progress: Progress
) -> Iterator[TranslatableMessage]:
    """A warning where the fraction of a comparative look was of another number of tasks."""
    numbers = [look.tasks for look in looks if look.kind == "comparative" and look.tasks]
    present = progress.tasks + progress.surplus
    changed = next((n for n in numbers if n != present), None)
    if changed is not None:
        yield message(
            "{before:,} tasks or ratings were planned at a comparative look, {after:,} at the last"
            " analysis. The fractions and critical values of the looks are of the former number, so"
            " that the type I error can be above {alpha:g}, the more so if anybody who knew the"
            " comparison decided on the change.",
            message_id="interim.changed_plan",
            before=changed,
            after=present,
            alpha=alpha,
        )


def new_last_analysis(
    results: Results, study: Study, data: Data, events: Sequence[Event], at: str
) -> ShownAnalysis | None:
    """The last analysis that these results of `with_looks` show for the first time, or None.

    None, too, where the analysis is exploratory or has no estimate: then nothing is confirmed that
    could be repeated.
    """
    interim = study.interim
    if interim is None or not interim.comparative or shown_analysis(events) is not None:
        return None
    progress = progress_of(study, interim, data)
    reason = last_analysis(events, progress)
    if reason is None or not progress.tasks or results.plan.get(interim.analysis) == "exploratory":
        return None
    estimates = [r.estimate for r in results.rows if r.analysis == interim.analysis]
    if not any(math.isfinite(estimate.value) for estimate in estimates):
        return None
    last = ShownAnalysis(n_present(progress), progress.tasks, at, reason)
    if (adjusted := results.sequential) is not None:
        return replace(last, z=abs(adjusted.z), critical=adjusted.critical[-1], p=adjusted.p)
    z, p = _test_of(results.rows, interim.analysis)
    return last if math.isnan(z) else replace(last, z=abs(z), p=p)


def _test_of(rows: Sequence[Row], analysis: str) -> tuple[float, float]:
    """The z statistic and unadjusted p value of the primary analysis; nan if not estimable."""
    from konsil.analysis.running.interim.sequential import primary_row, statistic_and_scale

    try:
        estimate = primary_row(rows, analysis).estimate
    except AnalysisError:
        return math.nan, math.nan
    return statistic_and_scale(estimate)[0], estimate.p


def _changed_warning(
    analysis: str, shown: ShownAnalysis, rows: Sequence[Row]
) -> TranslatableMessage | None:
    """A warning where as many ratings give another test than at the last analysis."""
    z = abs(_test_of(rows, analysis)[0])
    if shown.z is None or math.isclose(z, shown.z, rel_tol=_SAME, abs_tol=_SAME):
        return None
    return message(
        "The last analysis of “{analysis}” was made at {at} with as many tasks or ratings, but with"
        " another result: ratings or rules of the protocol were changed afterwards. Only the first"
        " last analysis is confirmatory; the changed data are only described.",
        message_id="interim.changed",
        analysis=analysis,
        at=shown.at,
    )


def final_estimate(
    study: Study, events: Sequence[Event], rows: Sequence[Row], progress: Progress
) -> AdjustedEstimate | None:
    """The primary analysis adjusted for its comparative looks; None where there is nothing to do.

    A look that decided to stop is replaced by the last analysis, with the ratings that came in
    after it: it spends what may be spent at its fraction (deletion method, Sooriyarachchi et al.
    2003). Without a stop, or where all tasks were rated nevertheless, the last analysis spends all
    that remains. None before the last analysis (`last_analysis`). A look with nearly all ratings of
    the last analysis is part of it, since it has no critical value of its own.
    Raises AnalysisError where the analysis has not exactly one test.
    """
    from konsil.analysis.running.interim.sequential import adjusted_estimate, primary_row

    interim = study.interim
    if interim is None or not interim.comparative or spoilt_analyses(study, events):
        return None
    # Changed after the freeze: another analysis than the one that the looks computed.
    if any(a.name == interim.analysis and not a.prespecified for a in study.analyses):
        return None
    looks = [look for look in taken_looks(events) if look.kind == "comparative"]
    if not looks or not progress.rated:
        return None
    last = last_analysis(events, progress)
    if last is None:
        return None
    is_stopped = last == "stopped"
    adjusted_for = looks[:-1] if is_stopped else looks
    if any(look.fraction > progress.fraction for look in adjusted_for):
        raise AnalysisError("the last analysis has fewer ratings than a look before it")
    earlier = [
        look for look in adjusted_for if not is_same_analysis(look.fraction, progress.fraction)
    ]
    futility = [interim.looks[look.number - 1].futility for look in earlier]
    row = primary_row(rows, interim.analysis)
    return adjusted_estimate(
        interim.sequential,
        [*(look.fraction for look in earlier), progress.fraction],
        futility,
        row,
        spends_all=not is_stopped,
        possible=_possible_values(study, row),
    )


def _possible_values(study: Study, row: Row) -> tuple[float, float]:
    """Between which values an estimate or difference of the primary analysis can lie."""
    from konsil.analysis.estimation.ranges import range_of

    of_two = row.kind == "difference" or bool(row.versus)
    criteria = [c for i in study.scored_instruments() for c in i.criteria]
    for analysis in study.analyses:
        for criterion in criteria:
            if analysis.name == row.analysis and criterion.id == row.criterion:
                return range_of(analysis, criterion, of_two=of_two)
    return -math.inf, math.inf
