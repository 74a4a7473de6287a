"""A report's data as files: estimates, coverage, labels, outcomes and all that figures show."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from konsil.analysis import Results
from konsil.analysis.model.catalogue.limits import Mode
from konsil.analysis.model.frames import columns, group_columns, record, whom
from konsil.analysis.model.rows import PlanStatus, Row
from konsil.records import Usage
from konsil.records.digits import written
from konsil.records.formulas import harmless
from konsil.study import Study, study_digest
from konsil.version import __version__


def data_files(
    study: Study, results: Results, usage: Sequence[Usage], digest: str
) -> dict[str, bytes]:
    """Name -> content of every data file."""
    return {
        "estimates.csv": estimates_csv(study, results),
        "estimates.json": estimates_json(study, results, digest),
        "coverage.csv": _coverage_csv(study, results),
        "labels.csv": _labels_csv(study, results),
        "outcomes.csv": _outcomes_csv(study, results),
        "orders.csv": _orders_csv(study, results),
        "usage.csv": _usage_csv(study, usage),
        "bounds.csv": _bounds_csv(study, results),
        "derived.csv": _derived_csv(study, results),
        "curves.csv": _curves_csv(study, results),
        "case_scores.csv": _case_scores_csv(study, results),
    }


def write_estimates(folder: Path, study: Study, results: Results) -> tuple[Path, Path]:
    """Write estimates.csv and estimates.json alone into an existing or new folder.

    Return their paths.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, content in (
        ("estimates.csv", estimates_csv(study, results)),
        ("estimates.json", estimates_json(study, results)),
    ):
        # Beside it first: whoever reads the file meanwhile finds the old one or the new one.
        draft = folder / f".{name}.new"
        draft.write_bytes(content)
        paths.append(draft.replace(folder / name))
    return paths[0], paths[1]


def estimates_json(study: Study, results: Results, digest: str = "") -> bytes:
    """Every row of the results with its groups as objects, at 12 significant digits."""
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
            {**record(row, results.plan), "mode": modes.get(row.analysis, "valid")}
            for row in results.rows
        ],
    }
    if results.sequential is not None:
        document["sequential"] = dataclasses.asdict(results.sequential)
    return (
        json.dumps(written(document), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    ).encode()


def estimates_csv(study: Study, results: Results) -> bytes:
    """Every row of the results, unrounded."""
    modes = {a.name: a.mode for a in study.analyses}
    return rows_csv(results.rows, results.plan, modes, simulated=study.simulated)


def rows_csv(
    rows: Sequence[Row],
    plan: Mapping[str, PlanStatus],
    modes: Mapping[str, Mode],
    *,
    simulated: bool = False,
) -> bytes:
    """Rows unrounded, as estimates.csv has them; `modes` by the names of their analyses."""
    groups, versus = group_columns(rows)
    lines = []
    for row in rows:
        plain = record(row, plan)
        plain["warnings"] = " | ".join(row.warnings)
        del plain["group"], plain["versus"]
        lines.append(
            {
                **plain,
                **{f"group.{c}": row.group.get(c, "") for c in groups},
                **{f"versus.{c}": row.versus.get(c, "") for c in versus},
                "mode": modes.get(row.analysis, "valid"),
                "simulated": simulated,
            }
        )
    return _csv([*columns(groups, versus), "mode", "simulated"], lines)


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


def _case_scores_csv(study: Study, results: Results) -> bytes:
    fields = ("analysis", "system", "case", "level", "value", "simulated")
    lines = [
        dict(
            zip(
                fields,
                (c.analysis, c.system, c.case, c.level, c.value, study.simulated),
                strict=True,
            )
        )
        for c in results.case_scores
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
    # Without translation of line ends: the files have the same bytes on every system.
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


def trade_off_lines(results: Results) -> list[dict[str, object]]:
    """Every threshold of every judge, as table rows; none is approved above the last value."""
    return [
        {
            "analysis": t.analysis,
            **{f"group.{column}": value for column, value in t.group.items()},
            "threshold": threshold,
            "approved": approved,
            "rejected": rejected,
        }
        for t in results.trade_offs
        for threshold, approved, rejected in zip(
            (*t.values, None), t.approved, t.rejected, strict=True
        )
    ]
