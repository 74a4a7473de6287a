"""What a command prints: the same as text for people and as one JSON object for programs."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, ParamSpec

import click

from konsil.cli.terminal import Block, Note
from konsil.records.digits import written

P = ParamSpec("P")

WITHOUT_JSON = {
    "serve": "runs until it is stopped",
    "design": "runs until it is stopped",
    "local": "has no output of its own; its commands have",
}
"""Command without --json -> the reason."""


@dataclass(frozen=True)
class Printout:
    """The result of a command."""

    record: Mapping[str, Any]
    """The result as data: texts, numbers, lists and records; None where undefined."""
    text: Iterable[str] | Callable[[], None] = ()
    """The same for people, line by line, or what prints it; a `Note` is in JSON as well."""
    error: BaseException | None = None
    """The error with which the command ends after it has printed."""

    def print(self, *, as_json: bool) -> None:
        """Print it, and raise its error."""
        if as_json:
            click.echo(Block(self._json()))
        elif callable(self.text):
            self.text()
        else:
            for line in self.text:
                click.echo(line)
        if self.error is not None:
            raise self.error

    def _json(self) -> str:
        record = dict(self.record)
        if not callable(self.text):
            notes = [str(line) for line in self.text if isinstance(line, Note)]
            if notes:
                record["notes"] = [*record.get("notes", ()), *notes]
        return json.dumps(written(plain(record)), ensure_ascii=False, indent=2, allow_nan=False)


def with_json(function: Callable[P, Printout]) -> Callable[P, None]:
    """Print what the command returns, as JSON with the option --json."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
    @functools.wraps(function)
    def command(*arguments: P.args, **options: P.kwargs) -> None:
        as_json = bool(options.pop("as_json"))
        function(*arguments, **options).print(as_json=as_json)

    return command


def storing(dry_run: bool, is_changed: bool, before: str) -> Iterator[str]:
    """The last line of a step that stores its result: of a dry run, or where nothing changed."""
    if dry_run:
        yield "nothing stored"
    elif not is_changed:
        yield f"{before}; nothing has changed"


def asks_json() -> bool:
    """Whether the command that runs is to print JSON."""
    return bool(click.get_current_context().params.get("as_json"))


def plain(value: Any) -> Any:  # noqa: ANN401 - data of any shape
    """Data as JSON has them: records as objects, paths and days as texts.

    >>> from pathlib import PurePath
    >>> plain({"page": PurePath("a/b"), "of": ("x", 1)})
    {'page': 'a/b', 'of': ['x', 1]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Set):
        return sorted(plain(entry) for entry in value)
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
