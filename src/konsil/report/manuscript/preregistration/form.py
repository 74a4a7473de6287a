"""A preregistration text of a protocol, in the order of the standard form of OSF.

It states what the protocol and the stored records know; the rest is marked for the authors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from konsil.analysis.running.interim.sequential import planned_critical_values
from konsil.errors.message import Listed, TranslatableMessage, listed, message
from konsil.plan import Allocation
from konsil.report.manuscript.blocks import Block, Heading, Manuscript, Paragraph, Words
from konsil.report.manuscript.checklists.known_facts import (
    blinding_text,
    questions_text,
    source_files,
    systems_text,
)
from konsil.report.manuscript.methods import criteria_text, to_be_written
from konsil.report.manuscript.preregistration.estimands import (
    definitions,
    estimand,
    transformations,
)
from konsil.report.manuscript.preregistration.markdown import markdown
from konsil.report.manuscript.preregistration.power import (
    PowerLine,
    power_text,
    withheld_text,
)
from konsil.report.manuscript.writers.word import word
from konsil.report.material.overview import Material
from konsil.study import Study, study_digest
from konsil.study.data.freezing import WithheldPower, frozen
from konsil.study.data.run_settings import target_of_plan
from konsil.study.definition.interim import Interim, InterimRule, Look
from konsil.study.interim.looks import family_words
from konsil.version import __version__


@dataclass(frozen=True)
class Registered:
    """What a preregistration is made from."""

    material: Material
    """The study and its records; no results."""
    n_ratings: int
    """Ratings that were stored when the plan was frozen, or are stored now."""
    plan_digest: str
    """The checksum of the analysis plan."""
    power: tuple[PowerLine, ...] = ()
    """The power calculation; empty: none was given, or all of it is withheld."""
    withheld: WithheldPower | None = None
    """Its lines that would name blinded systems; None: there are none."""


def preregistration(registered: Registered) -> Manuscript:
    """The whole text."""
    material = registered.material
    _ = material.language.gettext
    blocks = (
        *_notice(material),
        *_information(material),
        *_design(material),
        *_sampling(registered),
        *_variables(material),
        *_analysis(material),
        *_other(registered),
    )
    words = Words(_("Table"), _("Figure"), _("References"), _("continued"))
    title = _("Preregistration: %(title)s") % {"title": material.study.title}
    return Manuscript(title, material.language.code, words, tuple(blocks))


def preregistration_file(registered: Registered, suffix: str) -> bytes:
    """The text as a Word document (.docx) or as Markdown."""
    text = preregistration(registered)
    return word(text) if suffix == ".docx" else markdown(text).encode()


def _item(material: Material, heading: str, *texts: str, rest: str = "") -> Iterator[Block]:
    """A heading with its paragraphs; the mark for the authors where there is none.

    `rest` names what the study does not know and authors must add.
    """
    yield Heading(heading, 2)
    stated = [text for text in texts if text]
    yield from (Paragraph(text) for text in stated)
    if rest or not stated:
        yield Paragraph(to_be_written(material, rest if stated else ""))


def _notice(material: Material) -> Iterator[Block]:
    _ = material.language.gettext
    if frozen(material.events) is None:
        yield Paragraph(
            _("Preview: the analysis plan is not frozen, and the protocol can still change."),
            is_notice=True,
        )
    if material.study.retrospective:
        yield Paragraph(
            _("The ratings existed when the analyses were specified: no analysis is prespecified."),
            is_notice=True,
        )
    if material.is_blinded:
        yield Paragraph(
            _("The systems are blinded: this document contains blinding codes, not their names."),
            is_notice=True,
        )
    if material.study.simulated:
        yield Paragraph(material.stamp, is_notice=True)


def _information(material: Material) -> Iterator[Block]:
    _ = material.language.gettext
    yield Heading(_("Study information"), 1)
    yield from _item(material, _("Title"), material.study.title)
    yield from _item(material, _("Authors"))
    yield from _item(material, _("Description"), material.study.description)
    yield from _item(
        material,
        _("Research questions and hypotheses"),
        questions_text(material),
        rest=_("Hypotheses with their direction:"),
    )


def _design(material: Material) -> Iterator[Block]:
    _ = material.language.gettext
    study, translated = material.study, material.numbers.translated
    yield Heading(_("Design plan"), 1)
    kind = message(
        "Raters assess the answers of {n:,} {n|system|systems} on written criteria.",
        message_id="preregistration.type",
        n=len(study.systems),
    )
    yield from _item(material, _("Study type"), translated(kind) if study.systems else "")
    pages = _("The rating pages name no system.") if study.plan and not material.times else ""
    yield from _item(material, _("Blinding"), pages, blinding_text(material))
    yield from _item(
        material, _("Study design"), *(_allocation(material, line) for line in study.plan)
    )
    chance = _(
        "Tasks, their order and the positions of answers are assigned at random from the seed"
        " %(seed)s."
    ) % {"seed": study.seed}
    yield from _item(material, _("Randomisation"), chance if study.plan else "")


def _allocation(material: Material, line: Allocation) -> str:
    """A line of the assignment plan in sentences."""
    _, translated = material.language.gettext, material.numbers.translated
    shown = {
        "all": _("all answers of an item on one page"),
        "each": _("each answer on a page of its own"),
        "pair": _("two answers of an item on one page"),
    }
    sentences = [
        _("Panel %(panel)s, form %(form)s: %(shown)s.")
        % {"panel": line.panel, "form": line.instrument, "shown": shown[line.show]}
    ]
    if line.purpose != "main":
        sentences.append(
            _("Purpose: %(purpose)s.") % {"purpose": _purposes(material)[line.purpose]}
        )
    if line.raters_per_item:
        sentences.append(
            translated(
                message(
                    "Each item is assigned to {n:,} {n|rater|raters} of {panel} at random.",
                    message_id="preregistration.raters_per_item",
                    n=line.raters_per_item,
                    panel=line.panel,
                )
            )
        )
    counts = (
        (line.per_rater, _("At most %(n)s items per rater.")),
        (line.repeats, _("%(n)s items per rater are rated twice.")),
        (
            line.overlap.raters if line.overlap else 0,
            _("Each comparison in the overlap set is rated by %(n)s raters."),
        ),
    )
    sentences += [text % {"n": material.numbers.count(n)} for n, text in counts if n]
    if line.arms:
        arms = ", ".join(f"{name} {ratio}" for name, ratio in line.arms.items())
        sentences.append(_("Rater arms (allocation ratio): %(arms)s.") % {"arms": arms})
    if line.items:
        sentences.append(_("Set of items: %(value)s.") % {"value": line.items})
    return " ".join(sentences)


def _purposes(material: Material) -> dict[str, str]:
    _ = material.language.gettext
    return {
        "practice": _("practice"),
        "pilot": _("pilot"),
        "repeat": _("repeated ratings"),
        "tiebreak": _("tie-break"),
    }


def _sampling(registered: Registered) -> Iterator[Block]:
    material = registered.material
    _, count = material.language.gettext, material.numbers.count
    study = material.study
    yield Heading(_("Sampling plan"), 1)
    at_freeze = _("Ratings stored when the analysis plan was frozen: %(n)s.")
    so_far = _("Ratings stored so far: %(n)s.")
    stored = so_far if frozen(material.events) is None else at_freeze
    yield from _item(material, _("Existing data"), stored % {"n": count(registered.n_ratings)})
    yield from _item(
        material, _("Data collection procedures"), source_files(material), rest=_("Recruitment:")
    )
    sizes = [
        material.numbers.translated(
            message(
                "{panel}: {n:,} {n|rater|raters}",
                message_id="preregistration.panel",
                panel=panel,
                n=len(members),
            )
        )
        for panel, members in study.panels().items()
    ]
    sample = study.prepare.sample if study.prepare is not None else None
    yield from _item(
        material,
        _("Sample size"),
        _("Panels: %(panels)s.") % {"panels": "; ".join(sizes)} if sizes else "",
        _("%(n)s items are randomly sampled.") % {"n": count(sample.size)} if sample else "",
        _("Items stored so far: %(n)s.") % {"n": count(len(material.items))}
        if material.items
        else "",
    )
    power = [power_text(material, line) for line in registered.power]
    power += [withheld_text(material, registered.withheld)] if registered.withheld else []
    yield from _item(material, _("Sample size rationale"), *power)
    looks = [material.numbers.translated(text).strip() for text in interim_plan(study)]
    yield from _item(material, _("Stopping rule"), *looks)


def _variables(material: Material) -> Iterator[Block]:
    _ = material.language.gettext
    study = material.study
    yield Heading(_("Variables"), 1)
    yield from _item(material, _("Manipulated variables"), systems_text(material))
    yield from _item(
        material, _("Measured variables"), criteria_text(material) if study.instruments else ""
    )
    scores = [
        _("Score %(name)s: %(how)s of %(parts)s.")
        % {"name": s.title or s.id, "how": s.combine, "parts": ", ".join(map(str, s.of))}
        for s in study.scores
    ]
    derived = [
        _("Derived column %(name)s: mean of %(criterion)s by the panel %(panel)s.")
        % {"name": d.title or d.name, "criterion": d.criterion, "panel": d.raters}
        if not d.groups
        else _("Derived column %(name)s: groups %(groups)s.")
        % {
            "name": d.title or d.name,
            "groups": "; ".join(f"{g} ({', '.join(values)})" for g, values in d.groups.items()),
        }
        for d in study.derived
    ]
    nothing = _("None: the analyses use the criteria as they are rated.")
    yield from _item(material, _("Indices"), *(scores + derived or [nothing]))


def _analysis(material: Material) -> Iterator[Block]:
    _, numbers = material.language.gettext, material.numbers
    study = material.study
    yield Heading(_("Analysis plan"), 1)
    declared = [a for a in study.analyses if a.prespecified]
    yield from _item(material, _("Statistical models"), *(estimand(material, a) for a in declared))
    yield from _item(material, _("Estimands"), *definitions(material))
    yield from _item(material, _("Transformations"), *transformations(material))
    targets = {
        "like these": _("raters like these"),
        "these": _("these raters only"),
    }
    target = str(target_of_plan(study).raters)
    level = numbers.tick(100 * study.resampling.level) + material.language.per_cent
    yield from _item(
        material,
        _("Inference criteria"),
        _(
            "CIs have a confidence level of %(level)s. Bootstrap: %(draws)s resamples, seed"
            " %(seed)s. Tests are two-sided. Target of inference: %(target)s."
        )
        % {
            "level": level,
            "draws": numbers.count(study.resampling.draws),
            "seed": study.seed,
            "target": targets[target],
        },
        _("p values of all prespecified tests are adjusted for multiple testing (Holm)."),
    )
    yield from _item(material, _("Data exclusion"), _exclusions(material))
    yield from _item(
        material,
        _("Missing data"),
        _(
            "Missing ratings are not imputed. Abstentions are treated as missing, except in"
            " analyses of abstention and where an analysis makes them a category."
        ),
    )
    others = [estimand(material, a) for a in study.analyses if not a.prespecified]
    none = _("The protocol has none; analyses that are added later are exploratory.")
    yield from _item(material, _("Exploratory analyses"), *(others or [none]))


def _exclusions(material: Material) -> str:
    """The rules of exclusion."""
    _, exclusions = material.language.gettext, material.study.exclusions
    sentences = []
    if exclusions.min_seconds:
        sentences.append(
            _("Pages that people rated in less than %(n)s seconds are excluded.")
            % {"n": material.numbers.tick(exclusions.min_seconds)}
        )
    if exclusions.require_seconds:
        sentences.append(_("Ratings of people without a recorded time are excluded."))
    if exclusions.raters:
        sentences.append(_("Excluded raters: %(names)s.") % {"names": ", ".join(exclusions.raters)})
    if exclusions.items:
        sentences.append(_("Excluded items: %(names)s.") % {"names": ", ".join(exclusions.items)})
    return " ".join(sentences) or _("The protocol has no rule by which ratings are excluded.")


def _other(registered: Registered) -> Iterator[Block]:
    material = registered.material
    _ = material.language.gettext
    freeze = frozen(material.events)
    yield Heading(_("Other"), 1)
    yield from _item(
        material,
        _("Protocol and checksums"),
        _("The analysis plan was frozen at %(at)s.") % {"at": freeze.at} if freeze else "",
        _("Checksums (SHA-256): protocol %(protocol)s, analysis plan %(plan)s.")
        % {
            "protocol": material.digest or study_digest(material.study),
            "plan": registered.plan_digest,
        },
        _("Software: konsil %(version)s; seed %(seed)s.")
        % {"version": __version__, "seed": material.study.seed},
        _("The protocol changed after the freeze: this document describes the current version.")
        if _is_changed(registered)
        else "",
    )
    yield from _item(material, _("Further information"))


def _is_changed(registered: Registered) -> bool:
    """Whether the analysis plan is another than the one that was frozen."""
    freeze = frozen(registered.material.events)
    return freeze is not None and freeze.data.get("plan") != registered.plan_digest


def interim_plan(study: Study) -> Iterator[TranslatableMessage]:
    """Sentences on the planned looks and rules; none where the protocol plans no looks."""
    interim = study.interim
    if interim is None:
        return
    if pooled := [look for look in interim.looks if look.kind == "pooled"]:
        yield message(
            "Blinded interim looks that pool all systems are made at {fractions} of the ratings;"
            " they spend no type I error.",
            message_id="preregistration.pooled_looks",
            fractions=_fractions(pooled),
        )
    if interim.comparative:
        yield _comparative(interim)
    for rule in interim.rules:
        yield _rule(rule)
        if rule.maximum is not None:
            yield message(
                "The sample is then extended in proportion to the square of the number compared, to"
                " {maximum:,} tasks or ratings at most.",
                message_id="preregistration.interim_extension",
                maximum=rule.maximum,
            )


def _comparative(interim: Interim) -> TranslatableMessage:
    looks = interim.comparative
    critical = planned_critical_values(
        interim.sequential, [look.fraction for look in looks], [look.futility for look in looks]
    )
    return message(
        "At {fractions} of the ratings, {who} alone looks at the analysis “{analysis}”. The study"
        " may stop where |z| reaches {critical}; the last value is of the last analysis. The"
        " two-sided type I error {alpha:g} is spent by a function of Lan and DeMets ({family})."
        " Bounds of futility: {futility}.",
        message_id="preregistration.comparative_looks",
        fractions=_fractions(looks),
        who=interim.unblinded,
        analysis=interim.analysis,
        critical=listed([f"{value:.3f}" for value in critical]),
        alpha=interim.alpha,
        family=family_words(interim.spending),
        futility=listed([f"{look.futility:g}" for look in looks]),
    )


def _rule(rule: InterimRule) -> TranslatableMessage:
    is_below = rule.below is not None
    return message(
        "Rule of pooled looks: “{action}” if {measure} ({end}) of {criterion} is {side} {limit:g}."
        " {text}",
        message_id="preregistration.interim_rule",
        action=rule.action,
        measure=rule.measure,
        end=rule.end,
        criterion=rule.criterion,
        side="<" if is_below else ">",
        limit=float(rule.below if rule.below is not None else rule.above or 0.0),
        text=rule.text,
    )


def _fractions(looks: list[Look] | tuple[Look, ...]) -> Listed:
    return listed(
        [message("{share:.0%}", message_id="interim.share", share=look.fraction) for look in looks]
    )
