"""Sentences as they are cut are marked whole on the page, within lists, tables and bold text
too."""

from __future__ import annotations

import importlib.util
import re
import sys
from html import unescape
from pathlib import Path

import pytest

from konsil.instrument.screens.rendering import show
from konsil.instrument.screens.words import words
from konsil.prepare import sentences
from konsil.records import Answer
from konsil.web.rating.text.richtext import html_of, plain, source_of

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "sentences.py"
spec = importlib.util.spec_from_file_location("benchmark_sentences_shown", SCRIPT)
assert spec is not None
assert spec.loader is not None
benchmark = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = benchmark
spec.loader.exec_module(benchmark)


def bare(text: str) -> str:
    return re.sub(r"\W", "", text)


@pytest.mark.parametrize("arm", ["", "text"])
@pytest.mark.parametrize("language", ["de", "en"])
def test_every_sentence_is_marked_whole(language: str, arm: str) -> None:
    for one in benchmark.read(language):
        cut = sentences(one.text)
        shown = show(Answer("a", "i", "s", one.text), arm, words(language), cut)
        page = html_of(source_of(shown.pieces))
        marked: dict[int, str] = {}
        for n, text in re.findall(r'<mark data-sentence="(\d+)">(.*?)</mark>', page, re.DOTALL):
            marked[int(n)] = marked.get(int(n), "") + unescape(text)
        wanted = {p.span + 1: bare(plain(p.text)) for p in shown.pieces if p.span is not None}
        assert {n: bare(text) for n, text in marked.items()} == wanted
        assert len(wanted) == len(cut)
