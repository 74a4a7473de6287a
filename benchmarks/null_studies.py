"""What does konsil conclude where nothing is there? Whole studies of the four protocols, drawn
without any effect.

    python benchmarks/null_studies.py            500 studies a protocol at a fifth of its size
    python benchmarks/null_studies.py --size full --studies 100
    python benchmarks/null_studies.py --protocol cqa-eval --studies 50
    python benchmarks/null_studies.py --write    and write the tables into docs/coverage.md

Every study is planned, rated and analysed by the protocol as it stands: systems of equal quality,
judges who are drawn like people, no preference for anything of one's own, equally accurate designs,
cases that lose nothing by masking. Counted are, study by study: p values at most .05 before
adjustment, the same after it (any of the declared analyses: the family-wise error), and every
verdict (docs/verdicts.md) that claims an effect. Figures are not drawn."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import math
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

from scipy import stats
from simulated_study import analyse

from konsil.analysis import Resampling, Row
from konsil.analysis.model.verdicts import recommendations as designs_decided
from konsil.api.running.planning import implied_answers
from konsil.report.designs import recommendations
from konsil.simulate import CriterionTruth, Departure, PanelTruth, SystemTruth, Truth, draw
from konsil.simulate.pretended import pretended_items
from konsil.study import Study, parse
from konsil.study.data.cutting import pretended, with_sentences

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
MARKS = "<!-- null studies: {} -->\n", "<!-- end of null studies -->\n"
LEVEL = 0.05

PERSON = PanelTruth(accuracy=0.85, severity=0.0, abstention=0.05, abstention_slope=0.5)
"""Everybody who rates in MedQADE's null: physicians, tie-breakers and judges alike.

None is more severe than another: a judge of another severity does differ from the physicians at
hand, whom its comparison is about. """
PLAIN = PanelTruth(accuracy=0.85, severity=0.1)


def equal(study: Study, quality: float) -> dict[str, SystemTruth]:
    """All systems of one quality."""
    return {s.id: SystemTruth(quality) for s in study.systems}


def panels(study: Study, truth: PanelTruth) -> dict[str, PanelTruth]:
    """All panels alike."""
    return {
        **dict.fromkeys(study.panels(), truth),
        **dict.fromkeys({a.panel for a in study.plan}, truth),
    }


def medqade(study: Study) -> Truth:
    """No difference of systems, judges like physicians, nobody prefers an answer of their own."""
    return Truth(systems=equal(study, 0.75), panels=panels(study, PERSON))


def real_pocqi(study: Study) -> Truth:
    """No difference of systems; raters have tastes, which is what a test has to allow for."""
    return Truth(
        systems=equal(study, 0.7),
        panels=panels(study, dataclasses.replace(PLAIN, rater_system=0.3)),
    )


def clexeval(study: Study) -> Truth:
    """Cases that are answered alike at every level, reasoning that knows no more than the answer,
    plain judges."""
    names = {c.id for i in study.instruments for c in i.criteria}
    about = {n: CriterionTruth(about="reasoning") for n in names & {"reasoning_names"}}
    return Truth(
        systems=equal(study, 0.6),
        panels=panels(study, dataclasses.replace(PLAIN, shared=0.1)),
        criteria=about,
    )


def cqa_eval(study: Study) -> Truth:
    """Whole answers and sentences that are rated equally well, and take their time in
    proportion."""
    return Truth(
        systems=equal(study, 0.8),
        panels=panels(study, PLAIN),
        exceptions=(Departure(instrument="fine", seconds=240.0),),
        sentence_shared=0.5,
    )


@dataclasses.dataclass(frozen=True)
class Null:
    """One protocol's study without effects."""

    folder: str
    """The protocol."""
    file: str
    """Its file."""
    items: int
    """Items at its full size."""
    truth: Callable[[Study], Truth]
    """What is true: nothing."""
    not_null: frozenset[str] = frozenset()
    """Statistics, and analyses, whose comparisons have a true difference all the same, and are not
    counted."""
    claims: tuple[str, ...] = ()
    """The verdicts that its report could print, all of them wrong here."""


DERIVED = frozenset({"randolph_kappa", "part_variance", "reliability", "rater_hours", "part_whole"})
"""Agreement of answers made of sentences differs from that of whole answers by construction, and so
do its hours."""
BY_DESIGN = frozenset(
    {f"systems by design: {criterion}" for criterion in ("correctness", "relevance", "risks")}
)
"""A whole answer is wrong for other reasons than one of whose sentences any is."""
TIMES = frozenset({"seconds", "geometric_seconds", "median_seconds"})
"""Six sentences take longer than one answer."""
DESIGNS = tuple(
    f"design for {criterion}" for criterion in ("correctness", "relevance", "communicates_risks")
)
"""Recommendations of one of two designs."""
NULLS = {
    "medqade": Null("medqade", "study.en.toml", 3_800, medqade),
    "real-pocqi": Null("real-pocqi", "study.toml", 620, real_pocqi),
    "clexeval": Null(
        "clexeval", "study.toml", 40, clexeval, claims=("crossover", "hidden knowledge")
    ),
    "cqa-eval": Null("cqa-eval", "study.toml", 100, cqa_eval, DERIVED | BY_DESIGN | TIMES, DESIGNS),
}
SIZES = {"fifth": 5, "full": 1}


@dataclasses.dataclass(frozen=True)
class Counts:
    """What one study printed."""

    tested: dict[str, int]
    """Statistic -> p values."""
    rejected: dict[str, int]
    """Statistic -> p values of at most .05, before adjustment."""
    adjusted: bool
    """Whether any adjusted p value is at most .05."""
    max_t: bool
    """Whether any max-T adjusted p value is."""
    verdicts: dict[str, int]
    """Verdict that claims an effect -> how often."""


@functools.lru_cache(maxsize=4)
def material(name: str, size: str, draws: int):
    """The study, its items and answers, and its truth."""
    null = NULLS[name]
    folder = files("konsil.protocols") / null.folder
    study = parse(
        (folder / null.file).read_text("utf-8"), lambda other: (folder / other).read_text("utf-8")
    )
    study = dataclasses.replace(
        study,
        simulated=True,
        blinded=False,
        judges=(),
        programs=(),
        calibration=None,
        plan=tuple(line for line in study.plan if line.items != "pilot" and line.phase != "pilot"),
        # A range of estimates with one rater or item omitted has no p value and no verdict.
        analyses=tuple(dataclasses.replace(a, leave_out=()) for a in study.analyses),
        resampling=Resampling(draws),
        # Simulated ratings take no time.
        exclusions=dataclasses.replace(study.exclusions, min_seconds=0.0, require_seconds=False),
    )
    items = pretended_items(study, max(8, null.items // SIZES[size]))
    answers = with_sentences(
        study, pretended(study, implied_answers(items, [s.id for s in study.systems])), {}
    )
    return study, items, answers, null.truth(study)


def one_study(seed: int, name: str, size: str, draws: int) -> Counts:
    """Draw, analyse and count one study."""
    study, items, answers, truth = material(name, size, draws)
    drawn = draw(study, items, answers, truth, seed)
    results = analyse(study, items, answers, study.everybody(), drawn, seed, strict=False)
    return counted(results.rows, study, draws, NULLS[name].not_null)


def counted(
    rows: Sequence[Row], study: Study, draws: int, not_null: frozenset[str] = frozenset()
) -> Counts:
    """What the rows of one study claim."""
    tested, rejected = Counter[str](), Counter[str]()
    as_published = {a.name for a in study.analyses if a.mode == "paper"}
    # What stands beside a number is about these raters where raters have tastes: no null.
    null = [
        row
        for row in rows
        if row.kind != "companion"
        and not not_null & {row.statistic, row.analysis}
        and row.analysis not in as_published
    ]
    for row in null:
        if math.isfinite(row.estimate.p):
            tested[row.statistic] += 1
            rejected[row.statistic] += row.estimate.p <= LEVEL
    return Counts(
        dict(tested),
        dict(rejected),
        any(row.p_adjusted <= LEVEL for row in null),
        any(row.p_max_t <= LEVEL for row in null),
        dict(Counter(verdicts(rows, study, draws))),
    )


CLAIMS = ("Hidden knowledge: ", "Rank reversal: ")
"""How the findings begin that claim an effect; those that do not begin otherwise."""


def verdicts(rows: Sequence[Row], study: Study, draws: int) -> Iterator[str]:
    """The verdicts that claim an effect: findings of rows, and recommended designs."""
    for row in rows:
        template = getattr(row.finding, "template", "")
        yield from (claim.rstrip(": ").lower() for claim in CLAIMS if template.startswith(claim))
    yield from recommended(rows, study, draws)


def recommended(rows: Sequence[Row], study: Study, draws: int) -> Iterator[str]:
    """The criteria for which a design is recommended, as the report decides it."""
    of: dict[str, list[Row]] = {a.name: [] for a in study.analyses}
    for row in rows:
        of.setdefault(row.analysis, []).append(row)
    by_criterion: dict[str, list[recommendations.Compared]] = {}
    for comparison in recommendations.design_comparisons(study.analyses, of):
        by_criterion.setdefault(comparison.analysis.criterion, []).append(comparison)
    gaps = recommendations.hours_gaps(study.analyses, of)
    context = SimpleNamespace(study=study)
    parts = [
        recommendations.evidence(context, comparisons, gaps[c][1] if c in gaps else None)
        for c, comparisons in by_criterion.items()
    ]
    decided = designs_decided(parts, draws=draws, level=study.resampling.level)
    yield from (
        f"design for {c}"
        for c, decision in zip(by_criterion, decided, strict=True)
        if decision.design
    )


def all_studies(name: str, size: str, studies: int, draws: int, workers: int) -> list[Counts]:
    """Many studies of one protocol."""
    job = functools.partial(one_study, name=name, size=size, draws=draws)
    if workers < 2:
        return [job(seed) for seed in range(1, studies + 1)]
    # Forked processes would inherit locks of Polars' threads.
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(job, range(1, studies + 1), chunksize=2))


def bounds(k: int, n: int) -> tuple[float, float]:
    """Exact 95 % limits of k of n."""
    interval = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
    return float(interval.low), float(interval.high)


def table(name: str, size: str, studies: Sequence[Counts]) -> str:
    """The counts as Markdown: studies with at least one such claim, with exact limits; single p
    values by statistic."""
    n = len(studies)
    possible = NULLS[name].claims if name in NULLS else ()
    claims = sorted({*possible, *(v for study in studies for v in study.verdicts)})
    rows = [
        ("any declared finding after adjustment (Holm)", sum(study.adjusted for study in studies)),
        ("any finding after max-T adjustment", sum(study.max_t for study in studies)),
        *((claim, sum(claim in study.verdicts for study in studies)) for claim in claims),
    ]
    lines = ["| claim | studies | of | proportion | 95 % limits |", "|---|---:|---:|---:|---|"]
    for claim, k in rows:
        low, high = bounds(k, n)
        mark = " **too often**" if low > LEVEL else ""
        lines.append(f"| {claim} | {k} | {n} | {k / n:.3f} | {low:.3f} to {high:.3f}{mark} |")
    lines += ["", "| statistic | p values | p <= .05 | proportion |", "|---|---:|---:|---:|"]
    tested, rejected = Counter[str](), Counter[str]()
    for study in studies:
        tested.update(study.tested)
        rejected.update(study.rejected)
    lines += [
        f"| `{s}` | {m:,} | {rejected[s]:,} | {rejected[s] / m:.3f} |"
        for s, m in sorted(tested.items())
    ]
    return f"**{name}**, size: {size}\n\n" + "\n".join(lines) + "\n"


def main() -> None:
    """Draw, count, print; with --write put the tables into the document."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--protocol", choices=NULLS, nargs="*", default=list(NULLS))
    parser.add_argument("--size", choices=SIZES, default="fifth")
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--json", type=Path, help="write every study's counts there, too")
    parser.add_argument(
        "--read", action="store_true", help="draw no study: make the tables of the counts at --json"
    )
    arguments = parser.parse_args()
    for name in arguments.protocol:
        began = time.perf_counter()
        counts = arguments.json.with_suffix(f".{name}.json") if arguments.json else None
        if arguments.read and counts is not None:
            studies = [Counts(**study) for study in json.loads(counts.read_text("utf-8"))]
        else:
            studies = all_studies(
                name, arguments.size, arguments.studies, arguments.draws, arguments.workers
            )
        text = table(name, arguments.size, studies)
        print(text, flush=True)
        print(
            f"{name}: {len(studies)} studies in {time.perf_counter() - began:.0f} s",
            file=sys.stderr,
        )
        if counts is not None:
            counts.write_text(json.dumps([dataclasses.asdict(study) for study in studies]), "utf-8")
        if arguments.write:
            start, end = MARKS[0].format(f"{name} {arguments.size}"), MARKS[1]
            before, _, rest = DOCUMENT.read_text("utf-8").partition(start)
            DOCUMENT.write_text(f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}", "utf-8")


if __name__ == "__main__":
    main()
