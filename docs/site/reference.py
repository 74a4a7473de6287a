"""Pages of the reference that are made from the code: commands, statistics, Python."""

from __future__ import annotations

import json
import textwrap
from importlib.resources import files

import click

import konsil
from konsil.cli.examples import EXAMPLES
from konsil.cli.groups import GROUPS
from konsil.cli.main import group
from konsil.study.reference.explain import Key, keys_of


def pages() -> dict[str, str]:
    """Each page's file name and text."""
    return {
        "reference-keys.md": _keys(),
        "reference-commands.md": _commands(),
        "reference-statistics.md": _statistics(),
        "reference-python.md": _python(),
    }


def _keys() -> str:
    schema = json.loads((files("konsil.study") / "study.schema.json").read_text("utf-8"))
    lines = [
        "# Keys of study.toml",
        "",
        "Generated from the types of the decoder; `konsil explain KEY` prints the same information."
        " For examples, see [how to describe a study](howto-study.md).",
        "",
        "## At the top",
        "",
        *_HEADER,
    ]
    known = {key.path: key for key in keys_of(schema)}
    lines += [_row(key) for key in known.values() if "." not in key.path]
    for table in known.values():
        if not table.keys:
            continue
        name = f"[[{table.path}]]" if table.form == "a list of tables" else f"[{table.path}]"
        lines += [
            "",
            f"## {table.path}",
            "",
            f"`{name}`: {_escaped(table.description)}",
            "",
            *_HEADER,
        ]
        lines += [_row(known[f"{table.path}.{key}"]) for key in table.keys]
    return "\n".join(lines) + "\n"


_HEADER = ("| key | permitted values | default | meaning |", "|---|---|---|---|")


def _row(key: Key) -> str:
    form = ", ".join(f"`{each}`" for each in key.choices) or key.form
    default = key.shown_default
    if default and not key.is_required:
        default = f"`{default}`"
    name = key.path.rpartition(".")[2]
    return f"| `{name}` | {form} | {default} | {_escaped(_cell(key.description))} |"


def _commands() -> str:
    lines = [
        "# Commands",
        "",
        "Generated from the program; `konsil COMMAND --help` prints the same information.",
        "",
    ]
    for heading, names in GROUPS.items():
        lines += [f"## {heading}", ""]
        for name in names:
            lines += _command(name)
    return "\n".join(lines) + "\n"


def _command(name: str) -> list[str]:
    command = group.get_command(click.Context(group), name)
    if command is None:
        raise LookupError(name)
    context = click.Context(command, info_name=f"konsil {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"### konsil {name}", "", *_paragraphs(command.help or ""), ""]
    lines += ["```text", f"konsil {name} {usage}", "```", ""]
    records = [r for p in command.get_params(context) if (r := p.get_help_record(context))]
    if records:
        lines += ["| option | meaning |", "|---|---|"]
        lines += [f"| `{_cell(option)}` | {_escaped(_cell(text))} |" for option, text in records]
        lines.append("")
    return [*lines, "Examples:", "", "```text", *EXAMPLES[name], "```", ""]


def _paragraphs(text: str) -> list[str]:
    return [_escaped(line) for line in textwrap.dedent(text).replace("\b", "").splitlines()]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _escaped(text: str) -> str:
    """Text of a terminal as Markdown: nothing in it is markup."""
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_").replace("[", "\\[")


def _statistics() -> str:
    from konsil.analysis.model.catalogue.known import known_statistics, statistic_of
    from konsil.report.material.glossary import entry, family_title
    from konsil.report.material.language import language

    english = language("en")
    lines = [
        "# Statistics of an analysis",
        "",
        'The permitted values of `statistic = "..."` in a study.toml, generated from the registry;'
        " `konsil statistics NAME` prints the same. [Definitions and edge cases](statistics.md).",
        "",
    ]
    family = ""
    for name in known_statistics():
        if statistic_of(name).family != family:
            family = statistic_of(name).family
            lines += [f"## {family_title(family, english)}", ""]
        known = entry(name, english)
        lines += [f"### {name}", "", f"**{known.title}.** {_escaped(known.text)}", ""]
        facts = {
            "Undefined": known.undefined,
            "Keys": ", ".join(f"`{key}`" for key in sorted(known.keys)),
            "Source": known.source,
        }
        lines += [f"- {title}: {text}" for title, text in facts.items() if text]
        lines.append("")
    return "\n".join(lines) + "\n"


def _python() -> str:
    lines = ["# Python", "", _escaped((konsil.__doc__ or "").strip()), ""]
    for name in ("konsil.agreement", "konsil.preference", "konsil.open"):
        lines += [f"## {name}", "", "```{eval-rst}", f".. autofunction:: {name}", "```", ""]
    lines += ["## A study's folder", "", "```{eval-rst}", ".. autoclass:: konsil.api.Folder"]
    lines += ["   :members:", "```", ""]
    return "\n".join(lines) + "\n"
