"""Facts of a study that several checklists ask for, each in a sentence; empty where none is known.

Names of files and models are withheld while systems are blinded.
"""

from __future__ import annotations

from konsil.report.manuscript.methods import codes_text
from konsil.report.material.glossary import entry
from konsil.report.material.overview import Material
from konsil.report.models.prompt_appendix import judges_prompt, systems_prompts
from konsil.report.people.rater_flow import recruited
from konsil.study import study_digest
from konsil.study.data.freezing import frozen
from konsil.study.sections.recruitment import recruitment


def licence_text(material: Material) -> str:
    """The licence of released data."""
    _ = material.language.gettext
    licence = material.study.licence
    return _("Licence: %(licence)s.") % {"licence": licence} if licence else ""


def source_files(material: Material) -> str:
    """The files that items, answers and ratings come from."""
    _ = material.language.gettext
    sources = ", ".join(dict.fromkeys(s.file for s in material.study.sources if s.file))
    # A file of answers can have the name of its system.
    is_stated = bool(sources) and not material.is_blinded
    return _("Files: %(names)s.") % {"names": sources} if is_stated else ""


def sampling_text(material: Material) -> str:
    """That items were sampled at random."""
    _ = material.language.gettext
    prepare = material.study.prepare
    if prepare is None or (prepare.sample is None and not prepare.sets):
        return ""
    return _("Items were sampled at random with the study's seed; see the flow of items.")


def preparation_text(material: Material) -> str:
    """That items were prepared and selected."""
    _ = material.language.gettext
    if material.study.prepare is None:
        return ""
    return _("The flow of items lists the steps of preparation and selection with their numbers.")


def abstentions_text(material: Material) -> str:
    """How many abstentions there are; empty without ratings."""
    _ = material.language.gettext
    coverage = material.results.coverage
    if not coverage:
        return ""
    n = sum(row.abstained for row in coverage)
    return _("Abstentions: %(n)s.") % {"n": material.numbers.count(n)}


def models_text(material: Material) -> str:
    """Each system with the model that was called, as the protocol names it."""
    _ = material.language.gettext
    called = [s for s in material.study.systems if s.model is not None]
    if material.is_blinded or not called:
        return ""
    names = "; ".join(f"{system.id} ({system.model})" for system in called)
    return _("Models as the protocol names them: %(names)s.") % {"names": names}


def systems_text(material: Material) -> str:
    """The systems' names, or their blinding codes."""
    _ = material.language.gettext
    names = ", ".join(system.id for system in material.study.systems)
    return _("Systems: %(names)s.") % {"names": names} if names else ""


def _is_called(material: Material) -> bool:
    """Whether answers were collected by calls of models, which may be told."""
    return not material.is_blinded and any(entry.kind == "answer" for entry in material.usage)


def calls_text(material: Material) -> str:
    """That the methods name models, parameters and days of the calls."""
    _ = material.language.gettext
    if not _is_called(material):
        return ""
    return _("Models, their parameters and the days of the calls are under “Statistical analysis”.")


def access_text(material: Material) -> str:
    """How the models were reached."""
    _ = material.language.gettext
    if not _is_called(material):
        return ""
    return _("konsil called the models through their programming interfaces (API).")


def sessions_text(material: Material) -> str:
    """That no request had a history."""
    _ = material.language.gettext
    if not _is_called(material):
        return ""
    return _("Each item was sent in a request of its own, without earlier conversations.")


def systems_prompts_text(material: Material) -> str:
    """That the report prints the systems' instructions."""
    if material.is_blinded or not systems_prompts(material):
        return ""
    return material.language.gettext("The systems' instructions are printed in full in the report.")


def prompts_text(material: Material) -> str:
    """Where prompts are printed in full."""
    _ = material.language.gettext
    if material.is_blinded:
        return ""
    sentences = [text for text in (systems_prompts_text(material),) if text]
    if any(judges_prompt(material, form) for form in material.study.instruments):
        sentences.append(_("The prompts of LLM judges are printed in full in the report."))
    return " ".join(sentences)


def resources_text(material: Material) -> str:
    """Where times, tokens and costs of the calls are."""
    _ = material.language.gettext
    # Costs are withheld while systems are blinded.
    if not material.usage or material.is_blinded:
        return ""
    return _("The report tabulates times, tokens and costs of the calls.")


def answers_text(material: Material) -> str:
    """How many answers the records hold with their texts."""
    _, count = material.language.gettext, material.numbers.count
    n = sum(bool(answer.text) for answer in material.answers)
    return _("%(n)s answers are in the study's records in full.") % {"n": count(n)} if n else ""


def questions_text(material: Material) -> str:
    """The questions of the protocol's analyses."""
    _ = material.language.gettext
    questions = dict.fromkeys(a.question for a in material.study.analyses if a.question)
    if not questions:
        return ""
    return _("Questions of the protocol: %(questions)s") % {"questions": " ".join(questions)}


def comparisons_text(material: Material) -> str:
    """What is compared with what: systems, raters, panels."""
    _ = material.language.gettext
    columns = sorted({a.compare for a in material.study.analyses if a.compare})
    by = _("Compared by: %(columns)s.") % {"columns": ", ".join(columns)} if columns else ""
    return " ".join(text for text in (by, reference_text(material)) if text)


def reference_text(material: Material) -> str:
    """The reference standard: a panel, or its majority, that others are compared with."""
    _ = material.language.gettext
    majorities: set[str] = set()
    others: set[str] = set()
    for a in material.study.analyses:
        if a.against and a.against != "rest":
            (others if entry(a.statistic).has_own_panel else majorities).add(a.against)
    texts = (
        (_("Reference in comparisons: the majority of the panel %(panels)s."), majorities),
        (_("Reference in comparisons: the panel %(panels)s."), others - majorities),
    )
    return " ".join(
        text % {"panels": ", ".join(sorted(panels))} for text, panels in texts if panels
    )


def rater_characteristics_text(material: Material) -> str:
    """Where the characteristics of raters are, those that the study has."""
    return _characteristics(material, {c for rater in material.raters for c in rater.strata})


def item_characteristics_text(material: Material) -> str:
    """Where the characteristics of items are, those that the study has."""
    return _characteristics(material, {c for item in material.items for c in item.strata})


def _characteristics(material: Material, columns: set[str]) -> str:
    _ = material.language.gettext
    names = ", ".join(column.replace("_", " ") for column in sorted(columns))
    return _("Table 1: %(names)s.") % {"names": names} if names else ""


def information_text(material: Material) -> str:
    """What raters had before them beside the answer, as the forms state."""
    _ = material.language.gettext
    forms = [form for form in material.study.instruments if form.criteria]
    shown = [
        (_("rating guideline"), any(form.codebook for form in forms)),
        (_("reference answer"), any(form.show_reference for form in forms)),
        (_("reasoning of the systems"), any(form.show_reasoning for form in forms)),
    ]
    names = ", ".join(name for name, is_shown in shown if is_shown)
    return _("Raters had: %(names)s.") % {"names": names} if names else ""


def repeats_text(material: Material) -> str:
    """How many items raters rated twice by the plan; empty for ratings without a plan."""
    plan = [line for line in material.study.plan if line.purpose == "main"]
    if not plan:
        return ""
    _, count = material.language.gettext, material.numbers.count
    repeated = [
        _("%(panel)s: %(n)s items a rater") % {"panel": line.panel, "n": count(line.repeats)}
        for line in plan
        if line.repeats
    ]
    if not repeated:
        return _("By the plan, no item was rated twice by the same rater.")
    return _("Rated twice by the same rater: %(what)s.") % {"what": "; ".join(repeated)}


def lacks_repeats(material: Material) -> bool:
    """Whether items were to be rated twice and not all planned ratings were given."""
    is_incomplete = any(row.missing for row in material.results.coverage)
    return is_incomplete and any(line.repeats for line in material.study.plan)


def languages_text(material: Material) -> str:
    """The languages of the forms."""
    _ = material.language.gettext
    names = ", ".join(sorted({i.language for i in material.study.instruments if i.language}))
    return _("Language of the forms: %(languages)s.") % {"languages": names} if names else ""


def codebook_text(material: Material) -> str:
    """That the report prints the rating guideline."""
    if not any(form.codebook for form in material.study.instruments):
        return ""
    return material.language.gettext(
        "The rating guideline (codebook) is printed in full in the report."
    )


def independence_text(material: Material) -> str:
    """That raters did not see the ratings of others, where pages recorded it."""
    _ = material.language.gettext
    if not material.times or material.study.adjudication is not None:
        return ""
    return _("Raters rated on pages of their own, without the ratings of others.")


def blinding_text(material: Material) -> str:
    """Who did not know the systems' names."""
    _ = material.language.gettext
    sentences = []
    if material.times:
        sentences.append(_("The rating pages name no system."))
    return " ".join(text for text in (*sentences, codes_text(material)) if text)


def limitations_text(material: Material) -> str:
    """Where the limitations that the analyses detected are."""
    _ = material.language.gettext
    if not material.results.warnings:
        return ""
    return _("Limitations that the analyses detected are under “Limitations”.")


def protocol_text(material: Material) -> str:
    """The protocol's checksum, and when the plan of analyses was frozen."""
    _ = material.language.gettext
    digest = material.digest or study_digest(material.study)
    sentence = _("Protocol: study.toml, SHA-256 %(digest)s.") % {"digest": digest}
    freeze = frozen(material.events)
    if freeze is None:
        return sentence
    return f"{sentence} " + _("The analysis plan was frozen at %(at)s.") % {"at": freeze.at}


def _recorded(material: Material, *keys: str) -> str:
    """What the recruitment record has under these keys, with their words."""
    record = recruited(material)
    if record is None:
        return ""
    shown = dict(zip(recruitment(material.events).texts, record.texts, strict=True))
    stated = [shown[key] for key in keys if key in shown]
    return " ".join(f"{name}: {text.rstrip('.')}." for name, text in stated)


def ethics_text(material: Material) -> str:
    """The ethics committee, its reference and decision."""
    return _recorded(material, "committee", "reference", "decision")


def registration_text(material: Material) -> str:
    """The registration."""
    return _recorded(material, "registration")
