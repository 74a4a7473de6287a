"""What the statistics are called, what they say in one sentence, and where they come from."""

from __future__ import annotations

from dataclasses import replace

from konsil.analysis.model.catalogue.entry import Statistic
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.report.material.language import ENGLISH, Language


def entry(statistic: str, language: Language = ENGLISH) -> Statistic:
    """What is known of a statistic, in the report's language; its own name where nothing is."""
    description = statistic_of(statistic)
    title, text = language.statistic(statistic, description.title, description.text)
    return replace(description, title=title, text=text, source=language.gettext(description.source))


def title(statistic: str, language: Language) -> str:
    """The statistic's name in the report's language."""
    return entry(statistic, language).title
