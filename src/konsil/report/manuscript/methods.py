"""The methods text of a manuscript: what the study knows, and what its authors must write."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version

from konsil.analysis import Results
from konsil.analysis.model.catalogue.known import known_statistics, statistic_of
from konsil.errors.message import COMMA, TranslatableMessage, listed, message
from konsil.report.estimates.declared import declared
from konsil.report.manuscript.blocks import Block, Heading, Paragraph
from konsil.report.manuscript.citations import (
    cite,
    cited,
    keys_of_inference,
    keys_of_statistic,
)
from konsil.report.material.digest import records_digest
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.people.rater_flow import recruited
from konsil.stats.agreement.registry import STATISTICS
from konsil.study import study_digest
from konsil.version import __version__

_MOST_NAMES = 8
"""Analyses that a sentence names; of more it states the number."""


def to_be_written(material: Material, topic: str = "") -> str:
    """The mark of what a study's records do not contain."""
    mark = material.language.gettext("[to be written by the authors]")
    return f"{topic} {mark}".lstrip()


def methods_blocks(material: Material, results: Results) -> Iterator[Block]:
    """The section on methods."""
    _ = material.language.gettext
    yield Heading(_("Methods"), 1)
    yield Heading(_("Design and sample size"), 2)
    yield Paragraph(design_text(material))
    yield Paragraph(to_be_written(material, _("Reason for the sample size:")))
    yield Heading(_("Raters"), 2)
    yield Paragraph(raters_text(material))
    yield Paragraph(recruitment_text(material))
    yield Heading(_("Criteria"), 2)
    yield Paragraph(criteria_text(material))
    yield Heading(_("Statistical analysis"), 2)
    analysis = analysis_text(material, results)
    yield Paragraph(analysis)
    yield Paragraph(statistics_text(material, results, cited([analysis])))
    yield Heading(_("Software and reproducibility"), 2)
    yield Paragraph(software_text(material, results))
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
    for line in material.study.plan:
        if line.purpose != "main":
            continue
        sentences.append(
            translated(
                message(
                    "By the assignment plan, the panel {panel} rated on the form {form}.",
                    message_id="manuscript.allocation",
                    panel=line.panel,
                    form=line.instrument,
                )
            )
        )
        if line.raters_per_item:
            sentences.append(
                translated(
                    message(
                        "Each item was assigned to {n:,} {n|rater|raters} of {panel} at random.",
                        message_id="manuscript.raters_per_item",
                        n=line.raters_per_item,
                        panel=line.panel,
                    )
                )
            )
    return " ".join(text for text in dict.fromkeys((*sentences, codes_text(material))) if text)


def codes_text(material: Material) -> str:
    """That systems have blinding codes; empty in a study that is not blinded."""
    _ = material.language.gettext
    blinded = _("Systems have blinding codes in all analyses until unblinding.")
    return blinded if material.study.blinded else ""


def raters_text(material: Material) -> str:
    """Each panel's size and kind."""
    parts = [
        _members(panel, kind, n)
        for panel, members in material.panels().items()
        for kind, n in sorted(Counter(rater.kind for rater in members).items())
    ]
    if not parts:
        return to_be_written(material)
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
    """What the recruitment record has; the rest is for the authors."""
    _ = material.language.gettext
    record = recruited(material)
    if record is None or not record.texts:
        return to_be_written(material, _("Recruitment, ethics and compensation of the raters:"))
    return " ".join(f"{name}: {text.rstrip('.')}." for name, text in record.texts)


def criteria_text(material: Material) -> str:
    """The question of every criterion with its scale, and how sentences were presented."""
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
    if not sentences:
        return to_be_written(material)
    return "; ".join(sentences) + "."


def analysis_text(material: Material, results: Results) -> str:
    """The report's sentences on methods, with citations for sources."""
    names = [a.name for a in material.study.analyses if a.prespecified]
    every = {a.name for a in material.study.analyses} | {row.analysis for row in results.rows}
    sentence = material.numbers.translated(declared(results.plan, names, len(every)))
    pairs = zip(results.methods, material.results.methods, strict=True)
    # What the audit log showed is a part of the software's paragraph.
    of_report = [shown for computed, shown in pairs if computed is not results.log]
    sentences = [sentence, *of_report, *material.results.inference]
    keys = (*keys_of_inference(results.rows), *(["horowitz1995"] if results.bounds else []))
    if keys:
        words = material.language.gettext("CIs and tests follow the references cited here")
        sentences.append(f"{words}{cite(keys)}.")
    return with_citations(material, " ".join(dict.fromkeys(sentences)))


def with_citations(material: Material, text: str) -> str:
    """A text with a citation in the place of every source in brackets."""
    for name in known_statistics():
        source = statistic_of(name).source
        if source:
            for words in {source, material.language.gettext(source)}:
                text = text.replace(f" ({words})", cite(keys_of_statistic(name)))
    return text


def statistics_text(material: Material, results: Results, cited_before: Sequence[str]) -> str:
    """Every statistic that the text before does not cite, with its reference."""
    used = {a.statistic for a in material.study.analyses} | {r.statistic for r in results.rows}
    others = sorted(
        name
        for name in used
        if name not in STATISTICS or not set(keys_of_statistic(name)) <= set(cited_before)
    )
    parts = [f"{title(name, material.language)}{cite(keys_of_statistic(name))}" for name in others]
    if not parts:
        return ""
    words = material.language.gettext("Further statistics: %(statistics)s.")
    return words % {"statistics": "; ".join(dict.fromkeys(parts))}


def software_text(material: Material, results: Results) -> str:
    """Software with versions, seed, resamples and checksums, and what the audit log showed."""
    log = material.numbers.translated(results.log)
    _, numbers = material.language.gettext, material.numbers
    versions = ", ".join(f"{name} {number}" for name, number in _versions())
    digest = material.digest or study_digest(material.study)
    sentence = _("Analyses used konsil %(version)s%(citation)s (%(versions)s).") % {
        "version": __version__,
        "citation": cite(["konsil"]),
        "versions": versions,
    }
    reproduced = _(
        "The seed was %(seed)s, the number of resamples %(draws)s. Checksums (SHA-256): protocol"
        " %(protocol)s, records %(records)s."
    ) % {
        "seed": material.study.seed,
        "draws": numbers.count(material.study.resampling.draws),
        "protocol": digest,
        "records": records_digest(material.records),
    }
    return " ".join(text for text in (sentence, reproduced, log) if text)


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
    late = [n for n in declared_names if material.results.plan.get(n) != "prespecified"]
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
