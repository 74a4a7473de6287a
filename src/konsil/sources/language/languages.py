"""Detection of a text's language."""

from __future__ import annotations

from collections.abc import Callable

from konsil.errors import SourceError, installation

CANDIDATES = (
    "en",
    "de",
    "fr",
    "es",
    "it",
    "pt",
    "nl",
    "pl",
    "tr",
    "ru",
    "ar",
    "zh",
    "ja",
    "ko",
    "hi",
)
"""The languages that are told apart; among all the hundred known, names of drugs look like
anything."""


def recogniser() -> Callable[[str], tuple[str, float]]:
    """A function text -> (language as two letters, how sure, 0-1).

    Made once, it needs a second to begin.
    """
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise SourceError(
            "prepare.screen.languages: recognising languages needs the package py3langid; install"
            f" it with {installation('questions')}"
        ) from None
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(CANDIDATES))

    def recognise(text: str) -> tuple[str, float]:
        language, sure = identifier.classify(text)
        return str(language), float(sure)

    return recognise
