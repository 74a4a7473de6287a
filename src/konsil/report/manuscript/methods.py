"""The methods text of a manuscript: what the study knows, and what its authors must write."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from konsil.analysis import Results
from konsil.errors.message import COMMA, TranslatableMessage, listed, message
from konsil.report.manuscript.blocks import Block, Heading, Paragraph
from konsil.report.manuscript.citations import (
    cite,
    cited,
)
from konsil.report.manuscript.printed import Printed
from konsil.report.manuscript.statistical_analysis import (
    analysis_texts,
    interval_text,
    statistics_text,
)
from konsil.report.material.digest import records_digest
from konsil.report.material.overview import Material
from konsil.report.people.rater_flow import recruited
from konsil.study import study_digest
from konsil.version import __version__

_MOST_NAMES = 8
"""Analyses that a sentence names; of more it states the number."""


def to_be_written(material: Material, topic: str = "") -> str:
    """The mark of what a study's records do not contain."""
    mark = material.language.gettext("[to be written by the authors]")
    return f"{topic} {mark}".lstrip()


def methods_blocks(printed: Printed, results: Results) -> Iterator[Block]:
    """The section on methods: what was done for the numbers that the manuscript prints."""
    material = printed.material
    _ = material.language.gettext
    yield Heading(_("Methods"), 1)
    yield Heading(_("Design and sample size"), 2)
    yield Paragraph(design_text(material))
    yield Paragraph(to_be_written(material, _("Reason for the sample size:")))
    yield Heading(_("Raters"), 2)
    yield Paragraph(raters_text(material) or to_be_written(material))
    topic = _("Recruitment, ethics and compensation of the raters:")
    yield Paragraph(recruitment_text(material) or to_be_written(material, topic))
    yield Heading(_("Criteria"), 2)
    yield Paragraph(criteria_text(material) or to_be_written(material))
    yield Heading(_("Statistical analysis"), 2)
    texts = analysis_texts(printed, results)
    yield from map(Paragraph, texts)
    yield Paragraph(statistics_text(printed, cited(texts)))
    yield Paragraph(interval_text(material, printed.with_intervals))
    yield Heading(_("Software"), 2)
    yield Paragraph(software_text(material))
    yield Heading(_("Deviations from the protocol"), 2)
    yield Paragraph(deviations_text(material))


def design_text(material: Material) -> str:
    """Items, answers, systems and who rated them, from records and plan."""
    translated, _ = material.numbers.translated, material.language.gettext
    sentences = [
        translated(
            message(
                "{raters:,} {raters|rater|raters} in {panels:,} {panels|panel|panels} rated"
                " {items:,} {items|item|items} with {answers:,} {answers|answer|answers} of"
                " {systems:,} {systems|system|systems}.",
                message_id="manuscript.design",
                **material.counts(),
            )
        )
    ]
    lines = [line for line in material.study.plan if line.purpose == "main"]
    for form in dict.fromkeys(line.instrument for line in lines):
        panels = list(dict.fromkeys(line.panel for line in lines if line.instrument == form))
        sentences.append(
            translated(
                message(
                    "By the assignment plan, {panels} rated on the form {form}.",
                    message_id="manuscript.allocation_of_panels",
                    panels=listed(panels),
                    form=form,
                )
            )
        )
    sentences += [
        translated(
            message(
                "Each item was assigned to {n:,} {n|rater|raters} of {panel} at random.",
                message_id="manuscript.raters_per_item",
                n=line.raters_per_item,
                panel=line.panel,
            )
        )
        for line in lines
        if line.raters_per_item
    ]
    return " ".join(text for text in dict.fromkeys((*sentences, codes_text(material))) if text)


def codes_text(material: Material) -> str:
    """That systems have blinding codes; empty in a study that is not blinded."""
    _ = material.language.gettext
    blinded = _("Systems have blinding codes in all analyses until unblinding.")
    return blinded if material.study.blinded else ""


def raters_text(material: Material) -> str:
    """Each panel's size and kind; empty without raters."""
    parts = [
        _members(panel, kind, n)
        for panel, members in material.panels().items()
        for kind, n in sorted(Counter(rater.kind for rater in members).items())
    ]
    if not parts:
        return ""
    return material.numbers.translated(
        message(
            "Panels: {panels}.", message_id="manuscript.panels", panels=listed(parts, "; ", COMMA)
        )
    )


def _members(panel: str, kind: str, n: int) -> TranslatableMessage:
    if kind == "human":
        return message(
            "{panel}: {n:,} {n|person|people}",
            message_id="manuscript.panel_people",
            panel=panel,
            n=n,
        )
    if kind == "unknown":
        return message(
            "{panel}: raters unknown", message_id="manuscript.panel_unknown", panel=panel
        )
    if kind == "llm":
        return message(
            "{panel}: {n:,} LLM {n|judge|judges}",
            message_id="manuscript.panel_judges",
            panel=panel,
            n=n,
        )
    return message(
        "{panel}: {n:,} rule-based {n|scorer|scorers}",
        message_id="manuscript.panel_programs",
        panel=panel,
        n=n,
    )


def recruitment_text(material: Material) -> str:
    """What the recruitment record has; empty without one."""
    record = recruited(material)
    if record is None or not record.texts:
        return ""
    return " ".join(f"{name}: {text.rstrip('.')}." for name, text in record.texts)


def criteria_text(material: Material) -> str:
    """The question of every criterion with its scale; empty without criteria."""
    _ = material.language.gettext
    sentences = []
    for criterion in material.criteria().values():
        if not criterion.question:  # a score made of other criteria
            continue
        labels = ", ".join(criterion.scale.labels)
        abstain = criterion.scale.abstain
        if abstain is not None:
            labels += "; " + _("abstention: %(label)s") % {"label": abstain}
        scale = f" ({labels})" if labels else ""
        question = criterion.question
        end = "" if question.endswith((".", "?", "!")) else "."
        sentences.append(f"{material.criterion(criterion.id)}: {question}{end}{scale}")
    return "; ".join(sentences) + "." if sentences else ""


def software_text(material: Material) -> str:
    """Software with versions."""
    versions = ", ".join(f"{name} {number}" for name, number in _versions())
    sentence = material.language.gettext(
        "Analyses used konsil %(version)s%(citation)s (%(versions)s)."
    ) % {"version": __version__, "citation": cite(["konsil"]), "versions": versions}
    seed = message(
        "The seed of all random numbers was {seed}; checksums are in the supplement.",
        message_id="manuscript.seed",
        seed=str(material.study.seed),
    )
    return f"{sentence} {material.numbers.translated(seed)}"


def reproducibility_text(material: Material, results: Results) -> str:
    """Seed, resamples and checksums, and what the audit log showed."""
    log = material.numbers.translated(results.log)
    _, numbers = material.language.gettext, material.numbers
    digest = material.digest or study_digest(material.study)
    reproduced = _(
        "The seed was %(seed)s, the number of resamples %(draws)s. Checksums (SHA-256): protocol"
        " %(protocol)s, records %(records)s."
    ) % {
        "seed": material.study.seed,
        "draws": numbers.count(material.study.resampling.draws),
        "protocol": digest,
        "records": records_digest(material.records),
    }
    return " ".join(text for text in (reproduced, log) if text)


def _versions() -> list[tuple[str, str]]:
    versions = [("Python", platform.python_version())]
    for package in ("numpy", "scipy", "polars"):
        try:
            versions.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return versions


def deviations_text(material: Material) -> str:
    """Declared analyses that were not frozen in time; other deviations are for the authors."""
    _ = material.language.gettext
    declared_names = [a.name for a in material.study.analyses if a.prespecified]
    statuses = {name: material.results.plan.get(name, "not frozen") for name in declared_names}
    # Of a plan that was never frozen, or specified after the ratings, the methods state this.
    is_without_plan = set(statuses.values()) <= {"not frozen", "retrospective"}
    late = [] if is_without_plan else [n for n, s in statuses.items() if s != "prespecified"]
    sentences = []
    if late:
        counts = message(
            "{n:,} of {all:,} declared analyses were not frozen before the first rating that they"
            " use.",
            message_id="manuscript.late",
            n=len(late),
            all=len(declared_names),
        )
        sentences.append(material.numbers.translated(counts))
    if 0 < len(late) <= _MOST_NAMES:
        sentences[-1] = f"{sentences[-1][:-1]}: {', '.join(late)}."
    sentences.append(to_be_written(material, _("Other deviations:")))
    return " ".join(sentences)
