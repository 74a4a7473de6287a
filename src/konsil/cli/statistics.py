"""konsil statistics: what an analysis can ask for."""

from __future__ import annotations

import textwrap
from itertools import groupby

import click

from konsil.cli.fact_lines import WIDTH, fact_lines
from konsil.errors import KonsilError, nearest


@click.command(short_help="List the statistics for analyses, or explain one.")
@click.argument("name", required=False)
@click.option("--language", "code", default="en", help="Language of titles and sentences: en, de.")
def command(name: str | None, code: str) -> None:
    """List the statistics for `statistic = "..."` in a study.toml.

    With a NAME, explain that statistic.
    """
    from konsil.analysis.model.catalogue.known import SCORED, known_statistics, statistic_of
    from konsil.cli.terminal import show
    from konsil.locale import SOURCE, catalogue_language, is_draft, languages
    from konsil.report.material.glossary import entry, family_title
    from konsil.report.material.language import language

    spoken = [short for short in languages() if short == SOURCE or not is_draft(short)]
    if catalogue_language(code) not in spoken:
        raise KonsilError(
            f"--language {code!r}: there is no such language; {nearest(code, spoken)}"
        )
    names = known_statistics()
    if name is None:
        width = max(map(len, names))
        for family, members in groupby(
            (statistic_of(each) for each in names), lambda statistic: statistic.family
        ):
            click.echo()
            click.echo(show(family_title(family, language(code))))
            for statistic in members:
                click.echo(
                    show(f"  {statistic.id:<{width}}  {entry(statistic.id, language(code)).title}")
                )
        return
    if name not in names:
        raise KonsilError(f"there is no statistic {name!r}; {nearest(name, names)}")
    statistic = entry(name, language(code))
    click.echo(show(f"{statistic.id}: {statistic.title}"))
    for line in textwrap.wrap(statistic.text, WIDTH):
        click.echo(show(line))
    about = {
        "computed": statistic.definition if statistic.definition != statistic_of(name).text else "",
        "undefined": statistic.undefined or "no unit has ratings from two raters",
        "scale": "at least ordinal" if statistic.needs_order else "",
        "units": "only those that every rater rated" if statistic.needs_complete else "",
        "scores": "the criterion can be a composite score" if name in SCORED else "",
        "keys": ", ".join(sorted(statistic.keys)),
        "needs": ", ".join(statistic.limits.needed_keys),
        "not with": ", ".join(statistic.limits.refused_keys),
        "paper": statistic.as_published,
        "source": statistic.source,
    }
    for line in fact_lines(about):
        click.echo(show(line))
