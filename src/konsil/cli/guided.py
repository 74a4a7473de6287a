"""konsil new --guided: a study set up by questions in the terminal."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

import click

from konsil.api.design.serving import DraftWorkshop
from konsil.cli.terminal import show
from konsil.design.lines import Line, lines_of, with_lines
from konsil.design.people import Panel, PanelKind, with_panels
from konsil.design.proposals import proposals, with_analyses
from konsil.design.questions import KINDS, Kind, Question, labels_of, questions_of, with_questions
from konsil.design.tables.columns import Role
from konsil.design.wording import wording
from konsil.errors import KonsilError, StudyError
from konsil.web.design.words import (
    confidence_words,
    kind_words,
    purpose_words,
    reason_words,
    role_words,
)


def _untranslated(text: str) -> str:
    return text


def guided(folder: Path, language: str) -> None:
    """Ask for everything that a study needs; the folder is written at the end, whole or not."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StudyError(
            f"{folder}: exists and is not empty; choose a new folder, or change the study with"
            f" 'konsil design {folder}'"
        )
    with tempfile.TemporaryDirectory(prefix="konsil-design-") as staging:
        draft = DraftWorkshop(
            folder, Path(staging), language=language, seed=secrets.randbelow(1_000_000)
        )
        data = draft.data
        data["title"] = click.prompt("Title of the study")
        draft.change(data)
        _ask_tables(draft)
        draft.change(with_questions(draft.data, list(_ask_questions(draft))))
        draft.change(with_panels(draft.data, list(_ask_panels(draft))))
        draft.change(with_lines(draft.data, list(_ask_plan(draft))))
        _ask_analyses(draft)
        _summarise(draft)
        if not click.confirm(f"Write the study into {folder}?", default=True):
            raise click.Abort
        written = draft.save()
    click.echo(f"{folder}: {show(', '.join(written))}; next: konsil check {folder}")


def _ask_tables(draft: DraftWorkshop) -> None:
    click.echo("Tables with questions and answers: CSV, XLSX and others. Enter: no (more) table.")
    while place := click.prompt("Table", default="", show_default=False):
        path = Path(place).expanduser()
        try:
            if not path.is_file():
                raise StudyError(f"{path}: there is no such file")
            loaded = draft.add_table(path.name, path.read_bytes())
            if len(loaded.table.sheets) > 1:
                usual = loaded.table.settings.sheet
                sheets = show(", ".join(loaded.table.sheets))
                sheet = click.prompt(f"  Sheet ({sheets}; * for all)", default=usual)
                if sheet != usual:
                    draft.read_again(loaded.table.name, replace(loaded.table.settings, sheet=sheet))
                    loaded = draft.tables[loaded.table.name]
        except KonsilError as error:
            click.echo(f"  {show(str(error))}")
            continue
        n = loaded.table.n_rows
        click.echo(f"  {n:,} row{'' if n == 1 else 's'}")
        words, sure = role_words(_untranslated), confidence_words(_untranslated)
        for guess in loaded.guesses:
            click.echo(
                show(
                    f"  {guess.column}: {words[guess.role]}"
                    f" ({sure[guess.confidence]}: {reason_words(guess, _untranslated)})"
                )
            )
        roles = dict(loaded.roles)
        if not click.confirm("Are these roles correct?", default=True):
            click.echo(f"  Roles: {', '.join(get_args(Role))}")
            for column, role in roles.items():
                answer = click.prompt(
                    f"  {show(column)}",
                    default=role,
                    type=click.Choice(get_args(Role)),
                    show_choices=False,
                )
                roles[column] = cast("Role", answer)
        _use(draft, loaded.table.name, roles)


def _use(draft: DraftWorkshop, name: str, roles: Mapping[str, Role]) -> None:
    """Read a table with these roles; one that cannot be used is left out, with what it lacks."""
    words = role_words(_untranslated)
    draft.use_table(name, roles)
    missing, repeated = draft.lacking(name)
    if not (missing or repeated):
        return
    command = draft.command_of(name)
    if command:
        is_compared = draft.tables[name].is_only_computed
        purpose = (
            "comparisons; this compares the systems"
            if is_compared
            else "ratings; this computes their agreement"
        )
        click.echo(f"  not used: a study cannot hold these {purpose}:")
        click.echo(f"  {command}")
    for role in missing if not command else ():
        click.echo(f"  not used: no column is the {words[role]}; name the table again")
    for role in repeated:
        click.echo(f"  not used: several columns are the {words[role]}; name the table again")
    draft.remove_table(name)


def _ask_questions(draft: DraftWorkshop) -> Iterator[Question]:
    yield from questions_of(draft.data)
    words, kinds = wording(draft.language), kind_words(_untranslated)
    click.echo("Questions to the raters:")
    for offered in KINDS:
        click.echo(f"  {offered:8} {kinds[offered]}")
    scales: click.Choice[str] = click.Choice(["", *KINDS])
    while True:
        kind: str = click.prompt(
            "Scale of the next question (Enter: no more)",
            default="",
            show_default=False,
            type=scales,
            show_choices=False,
        )
        if not kind:
            return
        text = click.prompt("  Question", default=words[f"ask_{kind}"])
        question = Question(text, cast("Kind", kind))
        labels = click.prompt(
            "  Labels, with ; between them", default="; ".join(labels_of(question, draft.language))
        )
        abstain = click.prompt("  Label of an abstention (- for none)", default=words["abstain"])
        yield Question(
            text,
            cast("Kind", kind),
            tuple(label.strip() for label in labels.split(";") if label.strip()),
            "" if abstain == "-" else abstain,
        )


def _ask_panels(draft: DraftWorkshop) -> Iterator[Panel]:
    from konsil.design.people import panels_of

    existing = panels_of(draft.data)
    yield from existing
    words = wording(draft.language)
    default = "" if existing else words["physicians"]
    while name := click.prompt(
        "Panel of raters" if default else "Panel of raters (Enter: no more)",
        default=default,
        show_default=bool(default),
    ):
        kind = click.prompt(
            "  human or llm (a language model as judge)",
            default="human",
            type=click.Choice(["human", "llm"]),
            show_choices=False,
        )
        number = click.prompt("  Number of raters", default=3, type=click.IntRange(1, 500))
        yield Panel(name, number, cast("PanelKind", kind))
        default = ""


def _ask_plan(draft: DraftWorkshop) -> Iterator[Line]:
    is_rated = any(s.get("records") == "ratings" for s in draft.data.get("sources", ()))
    for line in lines_of(draft.data, is_new=not is_rated):
        answer = click.prompt(
            f"Raters of {show(line.panel)} for each item on {show(line.instrument)}"
            " (all, a number, or none)",
            default="none" if is_rated else "all",
        )
        number = int(answer) if answer.isdecimal() else None
        yield Line(line.panel, line.instrument, answer not in ("none", "0"), number or None)


def _ask_analyses(draft: DraftWorkshop) -> None:
    listed = proposals(draft.data, is_new=True)
    if not listed:
        return
    click.echo("Proposed analyses:")
    for n, proposal in enumerate(listed, start=1):
        click.echo(show(f"  {n:2} {proposal.name}: {purpose_words(proposal, _untranslated)}"))
    without = click.prompt(
        "Numbers to leave out, with commas (Enter: none)", default="", show_default=False
    )
    left_out = {int(n) for n in without.replace(" ", "").split(",") if n.isdecimal()}
    names = [p.name for n, p in enumerate(listed, start=1) if n not in left_out]
    draft.change(with_analyses(draft.data, names))


def _summarise(draft: DraftWorkshop) -> None:
    """The plan with its hours, and what is wrong."""
    if draft.data.get("plan") and draft.data.get("systems"):
        for work in draft.outlook().work:
            hours = work.screens * work.minutes / 60
            time = f"; about {hours:.1f} h in all" if work.kind == "human" else ""
            pages = f"{work.least_screens:,} to {work.most_screens:,} pages"
            place = show(f"{work.panel} on {work.instrument}")
            click.echo(f"  {place}: {pages} for each of {work.raters}{time}")
    for problem in draft.problems():
        click.echo(f"  {show(str(problem))}")
