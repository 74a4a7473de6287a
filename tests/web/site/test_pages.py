"""What a server makes of the templates before anybody comes."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files
from typing import Any

import jinja2
import pytest

from konsil.locale import languages, templates
from konsil.web.site import pages


def test_the_code_that_languages_share_is_that_of_each() -> None:
    """A number written into the code of a template would be that of whichever language came
    first."""
    templates = [pages.environment(language) for language in languages()]
    constant = "{{ '1234.5' | decimal }} {{ 0.5 | number }} {{ '2025-03-01T12:00:00Z' | day }}"
    texts = [p.read_text("utf-8") for p in files("konsil.web").joinpath("templates").iterdir()]
    sources = [text for text in texts if re.search(r"\| *(decimal|number|day)\b", text)]
    assert sources
    for source in (constant, *sources):
        assert len({t.compile(source, raw=True) for t in templates}) == 1, source[:200]
    shown = [t.from_string(constant).render() for t in templates]
    assert shown[languages().index("de")] == "1.234,5 0,5 1. März 2025"
    assert shown[languages().index("en")] == "1,234.5 0.5 March 1, 2025"


@pytest.mark.slow
def test_a_template_is_compiled_once_and_not_once_a_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: Counter[str] = Counter()
    compile_template = jinja2.Environment.compile

    def count(self: jinja2.Environment, source: str, name: str, *more: Any, **keys: Any) -> Any:
        compiled[name] += 1
        return compile_template(self, source, name, *more, **keys)

    monkeypatch.setattr(jinja2.Environment, "compile", count)
    monkeypatch.setattr(templates, "_COMPILED", templates._Compiled())
    pages.environment.cache_clear()
    pages.warm()
    assert compiled.keys() == set(pages.environment("en").list_templates())
    assert set(compiled.values()) == {1}
