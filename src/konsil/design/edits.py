"""Changes of study.toml: only what differs is written anew, comments and order stay."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item

from konsil.design.blocks import Block, blocks_of
from konsil.errors import StudyError
from konsil.errors.message import message

Data: TypeAlias = "dict[str, Any]"
"""study.toml as tables, lists and values."""

_IDENTITY: Mapping[str, tuple[str, ...]] = {
    "raters": ("id",),
    "judges": ("rater",),
    "analyses": ("name",),
    "sources": ("file", "sheet", "records", "fixed", "criteria"),
    "plan": ("panel", "instrument", "purpose", "when", "phase", "items"),
}
"""List -> the keys by which an entry is recognised after a change; else its identifier."""


def edited(text: str, after: Data, comments: Mapping[str, str] | None = None) -> str:
    r"""The file with today's data.

    What is equal stays byte for byte. `comments` are the sentences above a list that is new.

    >>> after = {"a": 2, "b": [{"id": "x"}]}
    >>> print(edited("a = 1 # why\n\n[[b]]\nid = 'x' # who\n", after), end="")
    a = 2 # why
    <BLANKLINE>
    [[b]]
    id = 'x' # who
    """
    before = tomllib.loads(text)
    if before == after:
        return text
    root = blocks_of(text if text.endswith("\n") or not text else text + "\n")
    try:
        _edit(root, before, after, comments or {})
        result = root.written()
        is_same = tomllib.loads(result) == after
    except (ValueError, TOMLKitError):
        is_same = False
    if not is_same:  # rather refuse than lose what somebody wrote
        raise StudyError(
            message(
                "study.toml: is written in a form that cannot be edited here; change it"
                " in an editor",
                message_id="setup.not_editable",
            )
        )
    return result


def differences(before: str, after: str) -> tuple[str, ...]:
    """The lines that a change takes away, adds and leaves around them, as `diff -u` prints them."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
    return tuple(lines)[2:]


def _edit(block: Block, before: Data, after: Data, comments: Mapping[str, str]) -> None:
    names = {child.name for child in block.children}
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        is_list = _is_table_list(new) or (new is None and _is_table_list(old))
        if key in names and is_list:
            _edit_list(block, key, old or [], new or [], comments)
        elif key in names and isinstance(new, dict):
            child = next(c for c in block.children if c.name == key)
            _edit(child, old or {}, new, {})
        elif key in names and new is None:
            for child in [c for c in block.children if c.name == key]:
                _remove(block, child, comments)
        elif new and is_list and old is None and not (block.path and key == "labels"):
            _edit_list(block, key, [], new, comments)
        elif new is not None and not block.path and old is None and isinstance(new, dict):
            child = Block((key,), lead=_lead(key, comments), text=f"[{key}]\n")
            block.children.append(child)
            _edit(child, {}, new, {})
        else:
            block.text = _with_value(block.text, block.path, key, new)


def _is_table_list(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _edit_list(
    parent: Block,
    key: str,
    before: Sequence[Data],
    after: Sequence[Data],
    comments: Mapping[str, str],
) -> None:
    entries = [child for child in parent.children if child.name == key]
    matches = _matches(key, before, after)
    for n, child in enumerate(entries):
        if n not in matches.values():
            _remove(parent, child, comments)
    previous: Block | None = None
    for n, data in enumerate(after):
        index = matches.get(n)
        if index is not None:
            block = entries[index]
            _edit(block, before[index], data, {})
        else:
            path = (*parent.path, key)
            lead = "\n" if previous is not None else _lead(key, comments)
            block = Block(path, lead=lead, text=f"[[{_dotted(path)}]]\n")
            _edit(block, {}, data, {})
            _insert(parent, block, previous, entries)
        previous = block


def _matches(key: str, before: Sequence[Data], after: Sequence[Data]) -> dict[int, int]:
    """Index of an entry today -> its index before, in the same order."""
    identity = _IDENTITY.get(key, ("id",))

    def name(entry: Data) -> str:
        return repr([entry.get(k) for k in identity])

    olds, news = list(map(name, before)), list(map(name, after))
    matcher = difflib.SequenceMatcher(None, olds, news, autojunk=False)
    return {
        block.b + n: block.a + n
        for block in matcher.get_matching_blocks()
        for n in range(block.size)
    }


def _insert(parent: Block, block: Block, previous: Block | None, entries: list[Block]) -> None:
    siblings = [child for child in parent.children if child in entries]
    if previous is not None:
        at = next(n for n, child in enumerate(parent.children) if child is previous) + 1
    elif siblings:
        at = next(n for n, child in enumerate(parent.children) if child is siblings[0])
        # The comment above the list stays above it.
        block.lead, siblings[0].lead = siblings[0].lead, "\n"
    else:
        at = len(parent.children)
    parent.children.insert(at, block)


def _remove(parent: Block, child: Block, comments: Mapping[str, str]) -> None:
    at = next(n for n, each in enumerate(parent.children) if each is child)
    del parent.children[at]
    is_last = all(each.name != child.name for each in parent.children)
    if "#" not in child.lead or (is_last and child.lead == _lead(child.name, comments)):
        return
    # What was said above it may be about the whole list; our own sentence goes with the list.
    if at < len(parent.children):
        parent.children[at].lead = child.lead + parent.children[at].lead.lstrip("\n")
    elif not parent.path:
        parent.tail = child.lead + parent.tail


def _lead(key: str, comments: Mapping[str, str]) -> str:
    comment = comments.get(key, "")
    return "\n" + "".join(f"# {line}\n" for line in comment.splitlines())


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(tomlkit.key(name).as_string() for name in path)


def _with_value(text: str, path: tuple[str, ...], key: str, value: object) -> str:
    """A table's own text with one key changed, added or (None) taken away."""
    # A table that stands alone is read without its header's path.
    header, body = _headed(text) if path else ("", text)
    document = tomlkit.parse(body)
    if value is None:
        del document[key]
    elif key in document:
        _replace(document, key, value)
    else:
        line = f"{tomlkit.key(key).as_string()} = {literal(value).as_string()}\n"
        return f"{header}{body}{line}"
    return f"{header}{tomlkit.dumps(document)}"


def _headed(text: str) -> tuple[str, str]:
    first, _, rest = text.partition("\n")
    return f"{first}\n", rest


def _replace(document: Any, key: str, value: object) -> None:  # noqa: ANN401 - tomlkit's containers
    """Set a value; of a table within the line only its own keys that differ."""
    old = document[key]
    if isinstance(value, dict) and isinstance(old, dict):
        for name in [name for name in old if name not in value]:
            del old[name]
        for name, new in value.items():
            if name not in old:
                old[name] = literal(new)
            elif old[name] != new:
                _replace(old, name, new)
        return
    document[key] = literal(value)


def literal(value: object) -> Item:
    """A value as it is written in one line; a text of several lines as such a text."""
    if isinstance(value, dict):
        table = tomlkit.inline_table()
        for name, entry in value.items():
            table[name] = literal(entry)
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        for entry in value:
            array.append(literal(entry))
        return array
    if isinstance(value, str) and "\n" in value:
        return tomlkit.string(value, multiline=True)
    return tomlkit.item(value)
