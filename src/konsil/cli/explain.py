"""konsil explain: what a key of study.toml means."""

from __future__ import annotations

import json
import textwrap

import click

from konsil.cli.fact_lines import WIDTH, fact_lines


@click.command(short_help="Explain a key of study.toml.")
@click.argument("key", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(key: str | None, *, as_json: bool) -> None:
    """Explain a KEY or table of study.toml, such as analyses.statistic or raters.

    Without a KEY, list the tables. The name of a key is sufficient if only one table has it.
    """
    from dataclasses import asdict
    from importlib.resources import files

    from konsil.cli.terminal import show
    from konsil.study.reference.explain import explained, keys_of

    schema = json.loads((files("konsil.study") / "study.schema.json").read_text("utf-8"))
    known = {each.path: each for each in keys_of(schema)}
    if key is None:
        chosen = [each for each in known.values() if "." not in each.path]
    else:
        table = explained(schema, key)
        chosen = [table, *(known[f"{table.path}.{name}"] for name in table.keys)]
    if as_json:
        click.echo(json.dumps([asdict(each) for each in chosen], ensure_ascii=False))
        return
    if key is not None:
        first = chosen.pop(0)
        click.echo(show(f"{first.path}: {first.form}"))
        for line in textwrap.wrap(first.description, WIDTH):
            click.echo(show(line))
        about = {
            "default": first.shown_default,
            "one of": ", ".join(first.choices),
        }
        for line in fact_lines(about):
            click.echo(show(line))
    width = max((len(each.path) for each in chosen), default=0)
    for each in chosen:
        sentence = textwrap.shorten(each.description, WIDTH - width - 4, placeholder=" ...")
        click.echo(show(f"  {each.path:<{width}}  {sentence}"))
