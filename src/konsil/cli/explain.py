"""konsil explain: what a key of study.toml means."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from konsil.cli.fact_lines import WIDTH, fact_lines
from konsil.cli.printout import Printout, with_json

if TYPE_CHECKING:
    from konsil.study.reference.explain import Key


@click.command(short_help="Explain a key of study.toml.")
@click.argument("key", required=False)
@with_json
def command(key: str | None) -> Printout:
    """Explain a KEY or table of study.toml, such as analyses.statistic or raters.

    Without a KEY, list the tables. The name of a key is sufficient if only one table has it.
    """
    from importlib.resources import files

    from konsil.study.reference.explain import explained, keys_of

    schema = json.loads((files("konsil.study") / "study.schema.json").read_text("utf-8"))
    key_by_path = {each.path: each for each in keys_of(schema)}
    if key is None:
        chosen = [each for each in key_by_path.values() if "." not in each.path]
    else:
        table = explained(schema, key)
        chosen = [table, *(key_by_path[f"{table.path}.{name}"] for name in table.keys)]
    return Printout({"keys": chosen}, _lines(chosen, is_named=key is not None))


def _lines(keys: Sequence[Key], *, is_named: bool) -> Iterator[str]:
    """The first key in full if it is named, then each key with its description."""
    from konsil.cli.terminal import show

    if is_named:
        first, *keys = keys
        yield show(f"{first.path}: {first.form}")
        yield from map(show, textwrap.wrap(first.description, WIDTH))
        about = {
            "default": first.shown_default,
            "one of": ", ".join(first.choices),
        }
        yield from map(show, fact_lines(about))
    width = max((len(each.path) for each in keys), default=0)
    for each in keys:
        lines = textwrap.wrap(
            f"  {each.path:<{width}}  {each.description}",
            WIDTH,
            subsequent_indent=" " * (width + 4),
            break_on_hyphens=False,
        )
        yield from map(show, lines)
