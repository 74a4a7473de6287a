"""What the statistics are called, what they say in one sentence, and where they come from."""

from __future__ import annotations

from dataclasses import replace

from konsil.analysis.model.catalogue.entry import Statistic
from konsil.analysis.model.catalogue.families import FAMILY_TITLES
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.errors.message import translate
from konsil.report.material.language import ENGLISH, Language


def entry(statistic: str, language: Language = ENGLISH) -> Statistic:
    """What is known of a statistic, in the report's language; its own name where nothing is."""
    description = statistic_of(statistic)
    title, text = language.statistic(statistic, description.title, description.text)
    return replace(
        description,
        title=title,
        text=text,
        source=language.gettext(description.source),
        undefined=language.gettext(description.undefined) if description.undefined else "",
        as_published=language.gettext(description.as_published) if description.as_published else "",
    )


def family_title(family: str, language: Language = ENGLISH) -> str:
    """The heading of a family's statistics; the family's own name where it has none."""
    heading = FAMILY_TITLES.get(family)
    return family if heading is None else translate(heading, language.gettext, format)


def title(statistic: str, language: Language) -> str:
    """The statistic's name in the report's language."""
    return entry(statistic, language).title
