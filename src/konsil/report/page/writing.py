"""The report's files: all of them or none, and the same bytes for the same study."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from konsil.analysis import Results, Row
from konsil.analysis.estimation.targets import whom
from konsil.analysis.model.results import PlanStatus
from konsil.errors import KonsilError
from konsil.records import Usage
from konsil.records.digits import written
from konsil.records.formulas import harmless
from konsil.report.figures.trade_offs import trade_off_lines
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.section import Section
from konsil.report.material.study_records import StudyRecords
from konsil.report.material.tables import Numbers
from konsil.report.material.translate import translated_results
from konsil.report.page.page import render
from konsil.stats.engine.contract import Estimate
from konsil.study import Study, study_digest
from konsil.version import __version__

FILES = frozenset(
    {
        "index.html",
        "figures",
        "estimates.csv",
        "estimates.json",
        "coverage.csv",
        "labels.csv",
        "outcomes.csv",
        "orders.csv",
        "usage.csv",
        "bounds.csv",
        "derived.csv",
        "curves.csv",
    }
)
"""Everything a report's folder holds; a folder with anything else is not replaced."""


def write(
    folder: Path,
    study: Study,
    results: Results,
    records: StudyRecords,
    *,
    extras: Sequence[Section] = (),
    digest: str = "",
    is_blinded: bool = False,
) -> Path:
    """Write the report into `folder`, replacing a report that is there; return the page's path.

    The folder is filled beside its final place and moved there when it is whole, so that nobody
    ever finds half a report. A folder that holds anything but a report is left alone with a
    KonsilError. `digest` is the protocol's where `study` is not the protocol as it stands, but in
    letters; `is_blinded` says so.
    """
    folder = Path(folder)
    _may_replace(folder)
    spoken = language(study.language)
    numbers = Numbers(spoken)
    material = Material(
        study,
        translated_results(results, numbers),
        records.items,
        records.answers,
        records.raters,
        records.ratings,
        spoken,
        numbers,
        records.events,
        records.times,
        digest,
        records.lengths,
        records.usage,
        is_blinded,
    )
    page = render(material, extras)
    files: dict[str, bytes] = {
        "index.html": page.html.encode(),
        "estimates.csv": _estimates_csv(study, results),
        "estimates.json": _estimates_json(study, results, digest),
        "coverage.csv": _coverage_csv(study, results),
        "labels.csv": _labels_csv(study, results),
        "outcomes.csv": _outcomes_csv(study, results),
        "orders.csv": _orders_csv(study, results),
        "usage.csv": _usage_csv(study, records.usage),
        "bounds.csv": _bounds_csv(study, results),
        "derived.csv": _derived_csv(study, results),
        "curves.csv": _curves_csv(study, results),
    }
    for figure in page.figures:
        files[f"figures/{figure.key}.svg"] = figure.svg
        files[f"figures/{figure.key}.pdf"] = figure.pdf
    folder.parent.mkdir(parents=True, exist_ok=True)
    _replace(folder, files)
    return folder / "index.html"


def write_estimates(folder: Path, study: Study, results: Results) -> tuple[Path, Path]:
    """Write estimates.csv and estimates.json alone into an existing or new folder.

    Return their paths.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, content in (
        ("estimates.csv", _estimates_csv(study, results)),
        ("estimates.json", _estimates_json(study, results)),
    ):
        draft = folder / f".{name}.new"
        draft.write_bytes(content)
        paths.append(draft.replace(folder / name))
    return paths[0], paths[1]


def _may_replace(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        strange = sorted(entry.name for entry in folder.iterdir() if entry.name not in FILES)
        if strange:
            raise KonsilError(
                f"{folder}: holds {strange[0]!r}, which is no part of a report; expected a new or"
                " empty folder or an earlier report"
            )
    elif folder.exists() or folder.is_symlink():
        raise KonsilError(
            f"{folder}: is not a folder; expected a new or empty folder or an earlier report"
        )


def _replace(folder: Path, files: Mapping[str, bytes]) -> None:
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        new, old = work / "new", work / "old"
        (new / "figures").mkdir(parents=True)
        for name, content in files.items():
            (new / name).write_bytes(content)
        if folder.exists():
            folder.replace(old)
        new.replace(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _record(row: Row, plan: Mapping[str, PlanStatus] = MappingProxyType({})) -> dict[str, object]:
    e = row.estimate
    undefined = math.isnan(e.value)
    return {
        "analysis": row.analysis,
        "kind": row.kind,
        "statistic": row.statistic,
        "criterion": row.criterion,
        "raters": row.raters,
        "group": dict(sorted(row.group.items())),
        "versus": dict(sorted(row.versus.items())),
        "value": e.value,
        "low": e.low,
        "high": e.high,
        "level": e.level,
        "se": e.se,
        "p": e.p,
        "p_adjusted": row.p_adjusted,
        "p_max_t": row.p_max_t,
        "n_units": row.n_units,
        "n_units_versus": row.n_units_versus or None,
        "n_raters": row.n_raters,
        "n_ratings": e.n_ratings,
        "n_clusters": e.n_clusters,
        "n_undefined": e.n_undefined,
        "n_undefined_pairs": row.n_undefined_pairs,
        "method": e.method,
        "target": str(whom(e.raters)) if math.isfinite(e.low) else "",
        "reason": e.reason or ("undefined" if undefined else ""),
        "declared": row.prespecified,
        "prespecified": plan.get(row.analysis) == "prespecified",
        "warnings": list(row.warnings),
    }


def _estimates_json(study: Study, results: Results, digest: str = "") -> bytes:
    modes = {a.name: a.mode for a in study.analyses}
    document = {
        "study": study.title,
        "study_digest": digest or study_digest(study),
        "konsil": __version__,
        "simulated": study.simulated,
        "played": results.played,
        "target": str(whom(results.target)),
        "inference": list(results.inference),
        "warnings": list(results.warnings),
        "rows": [
            {**_record(row, results.plan), "mode": modes.get(row.analysis, "valid")}
            for row in results.rows
        ],
    }
    return (
        json.dumps(written(document), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    ).encode()


def _estimates_csv(study: Study, results: Results) -> bytes:
    modes = {a.name: a.mode for a in study.analyses}
    groups = sorted({column for row in results.rows for column in row.group})
    versus = sorted({column for row in results.rows for column in row.versus})
    lines = []
    for row in results.rows:
        record = _record(row, results.plan)
        record["warnings"] = " | ".join(row.warnings)
        del record["group"], record["versus"]
        lines.append(
            {
                **record,
                **{f"group.{c}": row.group.get(c, "") for c in groups},
                **{f"versus.{c}": row.versus.get(c, "") for c in versus},
                "mode": modes.get(row.analysis, "valid"),
                "simulated": study.simulated,
            }
        )
    empty = Row("", "", "", "", Estimate(math.nan))
    fields = [f for f in _record(empty) if f not in ("group", "versus")]
    at = fields.index("value")
    fields[at:at] = [*(f"group.{c}" for c in groups), *(f"versus.{c}" for c in versus)]
    return _csv([*fields, "mode", "simulated"], lines)


def _coverage_csv(study: Study, results: Results) -> bytes:
    reasons = sorted({reason for row in results.coverage for reason in row.excluded})
    counts = ("expected", "rated", "abstained", "unreadable", "missing")
    lines = [
        {
            **{name: getattr(row, name) for name in ("panel", "criterion", "system", *counts)},
            **{f"excluded.{reason}": row.excluded.get(reason, 0) for reason in reasons},
            "simulated": study.simulated,
        }
        for row in results.coverage
    ]
    fields = [
        "panel",
        "criterion",
        "system",
        *counts,
        *(f"excluded.{r}" for r in reasons),
        "simulated",
    ]
    return _csv(fields, lines)


def _labels_csv(study: Study, results: Results) -> bytes:
    fields = ("panel", "criterion", "system", "label", "count", "simulated")
    lines = [
        dict(zip(fields, (*key, n, study.simulated), strict=True))
        for key, n in sorted(results.label_counts.items())
    ]
    return _csv(fields, lines)


def _outcomes_csv(study: Study, results: Results) -> bytes:
    fields = ("rater", "column", "value", "outcome", "tasks", "simulated")
    lines = [
        dict(
            zip(
                fields, (row.rater, row.column, row.value, outcome, n, study.simulated), strict=True
            )
        )
        for row in results.outcomes
        for outcome, n in row.counts.items()
    ]
    return _csv(fields, lines)


def _orders_csv(study: Study, results: Results) -> bytes:
    fields = ("rater", "criterion", "compared", "inconsistent", "simulated")
    rows = [
        (r.rater, r.criterion, r.compared, r.inconsistent, study.simulated) for r in results.orders
    ]
    return _csv(fields, [dict(zip(fields, row, strict=True)) for row in rows])


def _usage_csv(study: Study, usage: Sequence[Usage]) -> bytes:
    names = [f.name for f in dataclasses.fields(Usage) if f.name != "failures"]
    kinds = sorted({kind for entry in usage for kind in entry.failures})
    lines = [
        {
            **{name: getattr(entry, name) for name in names},
            **{f"failures.{kind}": entry.failures.get(kind, 0) for kind in kinds},
            "simulated": study.simulated,
        }
        for entry in usage
    ]
    return _csv([*names, *(f"failures.{kind}" for kind in kinds), "simulated"], lines)


def _bounds_csv(study: Study, results: Results) -> bytes:
    groups = sorted({column for b in results.bounds for column in b.group})
    lines = [
        {
            "analysis": b.analysis,
            **{f"group.{c}": b.group.get(c, "") for c in groups},
            "value": b.value,
            "low": b.low,
            "high": b.high,
            "missing": b.n_missing,
            "given": b.n_given,
            "simulated": study.simulated,
        }
        for b in results.bounds
    ]
    fields = [
        "analysis",
        *(f"group.{c}" for c in groups),
        "value",
        "low",
        "high",
        "missing",
        "given",
        "simulated",
    ]
    return _csv(fields, lines)


def _derived_csv(study: Study, results: Results) -> bytes:
    fields = ("name", "item", "value", "label", "simulated")
    lines = [
        dict(zip(fields, (v.name, v.item, v.value, v.label, study.simulated), strict=True))
        for v in results.derived
    ]
    return _csv(fields, lines)


def _curves_csv(study: Study, results: Results) -> bytes:
    several = [*(c.group for c in results.curves), *(t.group for t in results.trade_offs)]
    groups = sorted({column for group in several for column in group})
    lines = [
        {
            "analysis": c.analysis,
            **{f"group.{g}": c.group.get(g, "") for g in groups},
            "coverage": coverage,
            "risk": risk,
            "simulated": study.simulated,
        }
        for c in results.curves
        for coverage, risk in zip(c.coverage, c.risk, strict=True)
    ]
    traded = [{**line, "simulated": study.simulated} for line in trade_off_lines(results)]
    more = ["threshold", "approved", "rejected"] if traded else []
    return _csv(
        ["analysis", *(f"group.{g}" for g in groups), "coverage", "risk", *more, "simulated"],
        lines + traded,
    )


def _csv(fields: Sequence[str], lines: Iterable[Mapping[str, object]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: _cell(v) for k, v in line.items()} for line in lines)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    """Truth values and numbers as in JSON, so that both files read alike.

    Names and labels of others made harmless.
    """
    if isinstance(value, bool):
        return str(value).lower()
    return harmless(value) if isinstance(value, str) else written(value)
