"""konsil statistics: what an analysis can ask for."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import click

from konsil.cli.fact_lines import WIDTH, fact_lines
from konsil.cli.printout import Printout, with_json
from konsil.errors import KonsilError, nearest
from konsil.errors.message import message, translate

_NO_TWO_RATERS = message(
    "no unit has ratings from two raters", message_id="statistics.no_two_raters"
)
_ORDINAL = message("at least ordinal", message_id="statistics.ordinal")
_COMPLETE = message("only those that every rater rated", message_id="statistics.complete")
_COMPOSITE = message("the criterion can be a composite score", message_id="statistics.composite")
_TITLES = {
    "computed": message("computed", message_id="statistics.computed"),
    "undefined": message("undefined", message_id="statistics.undefined"),
    "scale": message("scale", message_id="statistics.scale"),
    "units": message("units", message_id="statistics.units"),
    "scores": message("scores", message_id="statistics.scores"),
    "design": message("design", message_id="statistics.design"),
    "keys": message("keys", message_id="statistics.keys"),
    "needs": message("needs", message_id="statistics.needs"),
    "not with": message("not with", message_id="statistics.not_with"),
    "paper": message("paper", message_id="statistics.paper"),
    "source": message("source", message_id="statistics.source"),
}
"""What is known of a statistic -> its title in the output."""


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
    words = language(code)

    def in_language(text: str) -> str:
        return translate(text, words.gettext, format)

    statistic = entry(name, words)
    about = {
        "computed": statistic.definition if statistic.definition != statistic_of(name).text else "",
        "undefined": statistic.undefined or in_language(_NO_TWO_RATERS),
        "scale": in_language(_ORDINAL) if statistic.needs_order else "",
        "units": in_language(_COMPLETE) if statistic.needs_complete else "",
        "scores": in_language(_COMPOSITE) if name in SCORED else "",
        "design": "; ".join(in_language(need.text) for need in statistic.design),
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
        *fact_lines({in_language(_TITLES[key]): fact for key, fact in about.items()}),
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
