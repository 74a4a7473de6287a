"""Citations: which references the statistics and interval methods of a study need, and their forms.

`references.json` has the entries as CSL-JSON, and which of them a source of the registry of
statistics stands for; those of a method stand with the method.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.interval_methods import message_ids, method_entry
from konsil.version import __version__

Entry = Mapping[str, Any]
"""One reference as CSL-JSON."""

OPEN, CLOSE = "\ue000", "\ue001"
"""What stands around the keys of a citation in a paragraph: characters that no text has."""

_MARK = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
_DIFFERENT_IN_BIBTEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "$": r"\$", "<": r"\textless{}"}
    | {">": r"\textgreater{}", "{": r"\{", "}": r"\}"}
)
_MOST_NAMES, _FIRST_NAMES = 10, 6
"""Authors that a reference names in full, and how many it names of more."""
_KINDS = {
    "article-journal": "article",
    "book": "book",
    "chapter": "incollection",
    "paper-conference": "inproceedings",
    "report": "techreport",
    "software": "misc",
}


@cache
def _data() -> Mapping[str, Any]:
    text = files("konsil.report.manuscript").joinpath("references.json").read_text("utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


@cache
def entries() -> Mapping[str, Entry]:
    """Key -> reference, the software itself included."""
    software = {
        "id": "konsil",
        "type": "software",
        "author": [{"literal": "The konsil developers"}],
        "title": "konsil: evaluations of clinical language models by expert panels and LLM judges",
        "version": __version__,
    }
    return {entry["id"]: entry for entry in (*_data()["entries"], software)}


def keys_of_source(source: str) -> tuple[str, ...]:
    """The references of a source of the registry of statistics.

    None of a convention or definition; a KeyError of a source that is not listed.
    """
    return tuple(_data()["sources"][source]) if source else ()


def keys_of_method(method: str) -> tuple[str, ...]:
    """The references of an interval method and of the methods within it, without repetition."""
    keys = [key for name in message_ids(method) for key in method_entry(name).references]
    return tuple(dict.fromkeys(keys))


def keys_of_statistic(statistic: str) -> tuple[str, ...]:
    """The references of a statistic; of one that another package adds none but its own words."""
    source = statistic_of(statistic).source
    return keys_of_source(source) if source in _data()["sources"] else ()


def cite(keys: Iterable[str]) -> str:
    """A citation for a paragraph; empty without keys."""
    listed = ";".join(dict.fromkeys(keys))
    return f"{OPEN}{listed}{CLOSE}" if listed else ""


def parts(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """A paragraph as pairs of a text and the keys that are cited behind it.

    >>> parts("Kappa" + cite(["cohen1960"]) + " was used.")
    [('Kappa', ('cohen1960',)), (' was used.', ())]
    """
    pieces = _MARK.split(text)
    pairs = [
        (words, tuple(pieces[n + 1].split(";")) if n + 1 < len(pieces) else ())
        for n, words in enumerate(pieces)
        if n % 2 == 0
    ]
    return [(words, keys) for words, keys in pairs if words or keys]


def cited(texts: Iterable[str]) -> tuple[str, ...]:
    """The keys that texts cite, in the order of their first citation."""
    return tuple(dict.fromkeys(key for text in texts for _, keys in parts(text) for key in keys))


def _names(people: Sequence[Mapping[str, str]]) -> str:
    """The names; of more than ten the first six, as the National Library of Medicine's rules allow.

    >>> _names([{"family": "Chan", "given": "A.-W."}])
    'Chan AW'
    """
    shown = people if len(people) <= _MOST_NAMES else people[:_FIRST_NAMES]
    names = [
        person.get("literal")
        or f"{person['family']} {''.join(c for c in person['given'] if c.isalpha())}"
        for person in shown
    ]
    return ", ".join([*names, *(["et al"] if len(shown) < len(people) else [])])


def _ended(text: str) -> str:
    return text if text.endswith(("?", "!", ".")) else f"{text}."


def year_of(entry: Entry) -> str:
    """The year of a reference; empty where none is known."""
    return str(entry["issued"]["date-parts"][0][0]) if "issued" in entry else ""


def in_words(entry: Entry) -> str:
    """A reference in the style of Vancouver.

    >>> in_words(entries()["holm1979"]).partition(" https")[0]
    'Holm S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of \
Statistics. 1979;6(2):65-70.'
    """
    title = str(entry["title"]) + (f". {entry['edition']} ed" if "edition" in entry else "")
    text = f"{_names(entry['author'])}. {_ended(title)}"
    if "version" in entry:
        text += f" Version {entry['version']}."
    year = year_of(entry)
    if entry["type"] == "article-journal":
        issue = f"({entry['issue']})" if "issue" in entry else ""
        pages = f"{year};{entry['volume']}{issue}:{entry['page']}."
        text += f" {entry['container-title']}. {pages}"
    else:
        editors = f"{_names(entry['editor'])}, eds. " if "editor" in entry else ""
        book = (
            f" In: {editors}{_ended(entry['container-title'])}"
            if "container-title" in entry
            else ""
        )
        place = ": ".join(entry[k] for k in ("publisher-place", "publisher") if k in entry)
        published = "; ".join(part for part in (place, year) if part)
        pages = f". p. {entry['page']}" if "page" in entry else ""
        text += book + (f" {published}{pages}." if published else "")
    text += f" {entry['number']}." if "number" in entry else ""
    text += f" {entry['note']}." if "note" in entry else ""
    text += f" ISBN {entry['ISBN']}." if "ISBN" in entry else ""
    if "DOI" in entry:
        return f"{text} doi:{entry['DOI']}"
    return text + (f" {entry['URL']}" if "URL" in entry else "")


def bibtex(keys: Iterable[str]) -> str:
    """References as a BibTeX file, in the order of the keys' names."""
    return "\n".join(_bibtex_entry(entries()[key]) for key in sorted(set(keys)))


def _bibtex_entry(entry: Entry) -> str:
    kind = _KINDS.get(entry["type"], "misc")
    is_journal = kind == "article"
    publisher = "institution" if kind == "techreport" else "publisher"
    container = "journal" if is_journal else "booktitle"
    fields = {
        "author": " and ".join(_bibtex_name(person) for person in entry["author"]),
        "editor": " and ".join(_bibtex_name(person) for person in entry.get("editor", ())),
        "title": f"{{{_escaped(entry['title'])}}}",
        container: _escaped(entry.get("container-title", "")),
        "year": year_of(entry),
        "volume": entry.get("volume", ""),
        "number": entry.get("issue", entry.get("number", "")),
        "pages": entry.get("page", "").replace("-", "--"),
        "edition": entry.get("edition", ""),
        publisher: _escaped(entry.get("publisher", "")),
        "address": _escaped(entry.get("publisher-place", "")),
        "doi": entry.get("DOI", ""),
        "isbn": entry.get("ISBN", ""),
        "url": entry.get("URL", ""),
        "note": _escaped(
            entry.get("note", "") or (f"Version {entry['version']}" if "version" in entry else "")
        ),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@{kind}{{{entry['id']},\n" + ",\n".join(lines) + "\n}\n"


def _bibtex_name(person: Mapping[str, str]) -> str:
    literal = person.get("literal")
    return f"{{{literal}}}" if literal else f"{person['family']}, {person['given']}"


def _escaped(text: str) -> str:
    return str(text).translate(_DIFFERENT_IN_BIBTEX)


def csl_json(keys: Iterable[str]) -> str:
    """References as CSL-JSON, in the order of the keys' names."""
    chosen = [entries()[key] for key in sorted(set(keys))]
    return json.dumps(chosen, ensure_ascii=False, indent=1) + "\n"
