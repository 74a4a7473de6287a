"""konsil statistics: what an analysis can ask for."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import click

from konsil.cli.fact_lines import WIDTH, fact_lines
from konsil.cli.printout import Printout, with_json
from konsil.errors import KonsilError, nearest


@click.command(short_help="List the statistics for analyses, or explain one.")
@click.argument("name", required=False)
@click.option("--language", "code", default="en", help="Language of titles and sentences: en, de.")
@with_json
def command(name: str | None, code: str) -> Printout:
    """List the statistics for `statistic = "..."` in a study.toml.

    With a NAME, explain that statistic.
    """
    from konsil.analysis.model.catalogue.known import SCORED, known_statistics, statistic_of
    from konsil.cli.terminal import show
    from konsil.locale import catalogue_language, complete_languages
    from konsil.report.material.glossary import entry, family_title
    from konsil.report.material.language import language

    if catalogue_language(code) not in complete_languages():
        raise KonsilError(
            f"--language {code!r}: there is no such language; {nearest(code, complete_languages())}"
        )
    names = known_statistics()
    if name is None:
        rows = [
            {
                "id": each,
                "title": entry(each, language(code)).title,
                "family": family_title(statistic_of(each).family, language(code)),
            }
            for each in names
        ]
        return Printout({"statistics": rows}, _list_lines(rows))
    if name not in names:
        raise KonsilError(f"there is no statistic {name!r}; {nearest(name, names)}")
    statistic = entry(name, language(code))
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
    record = {
        "id": statistic.id,
        "title": statistic.title,
        "text": statistic.text,
        **{key.replace(" ", "_"): value or None for key, value in about.items()},
        "keys": sorted(statistic.keys),
    }
    lines = (
        f"{statistic.id}: {statistic.title}",
        *textwrap.wrap(statistic.text, WIDTH),
        *fact_lines(about),
    )
    return Printout(record, map(show, lines))


def _list_lines(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    from konsil.cli.terminal import show

    width = max(len(row["id"]) for row in rows)
    for family, members in groupby(rows, lambda row: row["family"]):
        yield ""
        yield show(family)
        for row in members:
            yield show(f"  {row['id']:<{width}}  {row['title']}")
