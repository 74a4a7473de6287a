"""A page's main form as a browser sees it: where it goes, what it carries, what it asks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape

_TAG = re.compile(
    r"<(/?)(form|input|button|textarea|fieldset|link|script)\b([^>]*)>", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"""([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?""")


@dataclass(frozen=True, slots=True)
class Form:
    """One form of a page."""

    action: str
    """Where it is sent."""
    data: Mapping[str, str]
    """What the page tells its module about it (data-...)."""
    hidden: Mapping[str, str]
    """What it carries unseen."""
    options: Mapping[str, tuple[str, ...]]
    """Name -> the values it offers; none where something is typed."""
    buttons: tuple[tuple[str, str], ...]
    """Names and values of its buttons."""


def forms(html: str) -> tuple[Form, ...]:
    """All forms of a page.

    >>> control = '<input type="radio" name="q" value="a &amp; b">'
    >>> [form] = forms(f'<form action="/x" data-rev="3">{control}</form>')
    >>> form.action, form.data["rev"], dict(form.options)
    ('/x', '3', {'q': ('a & b',)})
    """
    return tuple(_forms(html))


def _forms(html: str) -> Iterator[Form]:
    form_attributes: dict[str, str] | None = None
    hidden: dict[str, str] = {}
    options_by_field: dict[str, tuple[str, ...]] = {}
    buttons: list[tuple[str, str]] = []
    for closing, tag, rest in _TAG.findall(html):
        attributes = _attributes(rest)
        if tag == "form" and not closing:
            form_attributes, hidden, options_by_field, buttons = attributes, {}, {}, []
        elif tag == "form" and form_attributes is not None:
            data = {
                name[5:]: value
                for name, value in form_attributes.items()
                if name.startswith("data-")
            }
            yield Form(
                form_attributes.get("action", ""), data, hidden, options_by_field, tuple(buttons)
            )
            form_attributes = None
        elif form_attributes is None or closing:
            continue
        elif tag == "button":
            buttons.append((attributes.get("name", ""), attributes.get("value", "")))
        elif "name" in attributes and tag in ("input", "textarea"):
            name = attributes["name"]
            if attributes.get("type") == "hidden":
                hidden[name] = attributes.get("value", "")
            else:
                choice = (attributes.get("value", ""),) if attributes.get("type") == "radio" else ()
                options_by_field[name] = (*options_by_field.get(name, ()), *choice)


def own_files(html: str) -> tuple[str, ...]:
    """The study's own style sheets and modules that a page requests.

    >>> own_files(
    ...     '<link rel="stylesheet" href="/static/1/a.css">'
    ...     '<script type="module" src="/static/1/b.js"></script>'
    ... )
    ('/static/1/a.css', '/static/1/b.js')
    """
    attributes_of_tags = (
        _attributes(rest)
        for closing, tag, rest in _TAG.findall(html)
        if not closing and tag in ("link", "script")
    )
    return tuple(
        place
        for attributes in attributes_of_tags
        if (place := attributes.get("href") or attributes.get("src") or "").startswith("/static/")
    )


def _attributes(text: str) -> dict[str, str]:
    return {
        name: unescape(double or single or bare) if double or single or bare else ""
        for name, double, single, bare in _ATTRIBUTE.findall(text)
    }
