"""From a sheet to the first rating, and from ratings to a Table 2, on German pages alone."""

from __future__ import annotations

import ast
import re
import time
from functools import cache
from html import unescape
from pathlib import Path
from string import Formatter

import konsil
from konsil.locale import translations
from konsil.web.design.design_app import PAGES

from .conftest import fields_of

ROOT = Path(konsil.__file__).parent
PAGES_WITH_SENTENCES = [path for path, method, _ in PAGES if method == "GET" and "{" not in path]


@cache
def english_fragments() -> frozenset[str]:
    """Four words or more of the sentences that have German, as they are in English."""
    fragments: set[str] = set()
    for path in ROOT.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "message(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message":
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant):
                    fragments |= {literal for literal, *_ in Formatter().parse(str(first.value))}
    fragments |= {
        str(message) for message in translations("de")._catalog if isinstance(message, str)
    }
    known = {" ".join(fragment.split()) for fragment in fragments}
    return frozenset(fragment for fragment in known if fragment.count(" ") >= 3)


def in_english(page: str) -> list[str]:
    """What of a page is marked as English, or is a sentence of the catalogue in English."""
    marked = re.findall(r'<(?:span|li|p)[^>]* lang="en"[^>]*>(.*?)</', page, re.DOTALL)
    body = page.partition("<main")[2]
    body = re.sub(r"<pre.*?</pre>|<code.*?</code>", " ", body, flags=re.DOTALL)
    words = " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())
    return marked + sorted(fragment for fragment in english_fragments() if fragment in words)


def through(here, step: str, do: str = "next", **changed) -> str:
    return here.post(step, do, **{**fields_of(here.client.get(f"/{step}").text), **changed}).text


def ended(here, action: str) -> str:
    here.post("conduct", action)
    until = time.monotonic() + 60
    while here.workshop.conduct.job.is_running and time.monotonic() < until:
        time.sleep(0.05)
    return here.client.get("/conduct").text
