"""Detection of languages: which ones are told apart, and what is said without the package."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from konsil.errors import SourceError
from konsil.sources.language.languages import CANDIDATES, recogniser


class _Identifier:
    """The package's identifier, which takes a second to load, without its model."""

    languages: tuple[str, ...] = ()

    @classmethod
    def from_model_file(cls, name: str, *, norm_probs: bool) -> _Identifier:
        # Without it the second number is a logarithm of nothing that can be compared.
        assert (name, norm_probs) == ("model", True)
        return cls()

    def set_languages(self, names: list[str]) -> None:
        self.languages = tuple(names)

    def classify(self, text: str) -> tuple[str, Any]:
        assert self.languages == CANDIDATES
        return ("de", "0.9") if "Blut" in text else ("en", "0.8")


def test_a_text_has_a_language_among_those_that_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ModuleType("py3langid.langid")
    monkeypatch.setattr(module, "MODEL_FILE", "model", raising=False)
    monkeypatch.setattr(module, "LanguageIdentifier", _Identifier, raising=False)
    monkeypatch.setitem(sys.modules, "py3langid.langid", module)
    recognise = recogniser()
    assert (recognise("Blutdruck"), recognise("blood")) == (("de", 0.9), ("en", 0.8))


def test_a_missing_package_is_named_with_its_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    monkeypatch.delitem(sys.modules, "py3langid.langid", raising=False)
    with pytest.raises(
        SourceError,
        match=r"^prepare\.screen\.languages: .* py3langid; install it with .*\[questions\]",
    ):
        recogniser()
