"""The group of commands: names and one-line helps; all else is in the command's own module."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

import click

from konsil.cli.examples import examples_block
from konsil.cli.groups import GROUPS
from konsil.cli.terminal import Block, Note, guard_terminal, show
from konsil.errors import (
    IncompleteError,
    KonsilError,
    StudyError,
    UnclearTableError,
    nearest,
    options_as_flags,
)
from konsil.notices import printed
from konsil.progress import Verbosity, own_verbosity, set_verbosity, verbosity
from konsil.version import __version__

_HELP = {
    "quiet": "Print only results and errors: no notes, no progress.",
    "verbose": "Also print the seconds of each stage and, after an error, where it arose.",
}


def verbosity_options() -> list[click.Option]:
    """New options for one command."""
    return [_option(level) for level in get_args(Verbosity) if level in _HELP]


def _option(level: Verbosity) -> click.Option:
    def choose(context: click.Context, _option: click.Parameter, is_chosen: bool) -> None:
        if not is_chosen:
            return
        if verbosity() not in ("normal", level):
            context.fail("--quiet and --verbose contradict each other; expected one of them")
        set_verbosity(level)

    return click.Option(
        [f"--{level}"], is_flag=True, expose_value=False, callback=choose, help=_HELP[level]
    )


@contextmanager
def timed(command: str) -> Iterator[None]:
    """Print the seconds of the block, and the traceback of an error, where everything is shown."""
    start = time.monotonic()
    with own_verbosity():
        try:
            yield
        except (KonsilError, OSError):
            if verbosity() == "verbose":
                click.echo(Block(traceback.format_exc().rstrip()), err=True)
            raise
        finally:
            if verbosity() == "verbose":
                click.echo(f"{command}: {time.monotonic() - start:.1f} s in all", err=True)


COMMANDS = {
    "demo": (
        "konsil.cli.demo",
        "Create a small simulated study and write its report.",
    ),
    "agreement": (
        "konsil.cli.agreement",
        "Compute agreement statistics for a table of ratings (no study needed).",
    ),
    "compare": (
        "konsil.cli.compare",
        "Compare systems or groups of a table of ratings (Table 2).",
    ),
    "preference": (
        "konsil.cli.preference",
        "Compute preference statistics for a table of comparisons.",
    ),
    "statistics": (
        "konsil.cli.statistics",
        "List the statistics for analyses, or explain one.",
    ),
    "new": ("konsil.cli.new", "Create a folder with a study.toml to start from."),
    "design": (
        "konsil.cli.design",
        "Set up a study in the browser, or change one, without writing TOML.",
    ),
    "check": ("konsil.cli.check", "Check a study's protocol and summarise it."),
    "explain": ("konsil.cli.explain", "Explain a key of study.toml, or list its tables."),
    "codebook": ("konsil.cli.codebook", "Write the codebook as a printable page and as a PDF."),
    "import": ("konsil.cli.import_", "Read items, answers and ratings into the study's database."),
    "screen": (
        "konsil.cli.screen",
        "Flag ineligible questions and record reviewers' decisions.",
    ),
    "duplicates": (
        "konsil.cli.duplicates",
        "Detect duplicate questions and record reviewers' decisions.",
    ),
    "prepare": (
        "konsil.cli.prepare",
        "Select the items to rate (stratified random sample, item sets).",
    ),
    "mask": (
        "konsil.cli.mask",
        "Create masked case versions from marks; report residual disclosure.",
    ),
    "probe": (
        "konsil.cli.probe",
        "Test whether a model can guess the diagnosis from masked cases.",
    ),
    "rewrite": (
        "konsil.cli.rewrite",
        "Rewrite questions with a model and record reviewers' decisions.",
    ),
    "themes": ("konsil.cli.themes", "Group the questions by theme and record reviewers' edits."),
    "curation": (
        "konsil.cli.curation",
        "List the decisions made before data collection, and by whom.",
    ),
    "plan": ("konsil.cli.plan", "Assign items to raters at random and report the balance."),
    "answer": ("konsil.cli.answer", "Collect the answers of systems that have a model."),
    "judge": ("konsil.cli.judge", "Collect the LLM judges' ratings of their assigned tasks."),
    "serve": ("konsil.cli.serve", "Serve the rating pages and the study dashboard."),
    "invite": (
        "konsil.cli.invite",
        "Create personal links for raters or study staff.",
    ),
    "letters": (
        "konsil.cli.letters",
        "Send invitations and reminders to raters by e-mail.",
    ),
    "kit": ("konsil.cli.kit", "Write a rater's batch as one file for sites without a network."),
    "withdraw": (
        "konsil.cli.withdraw",
        "Withdraw a rater and reassign unfinished tasks.",
    ),
    "places": (
        "konsil.cli.places",
        "List rater slots for sign-up, or add rater slots after planning.",
    ),
    "succeed": (
        "konsil.cli.succeed",
        "List vacant rater slots or assign a successor.",
    ),
    "close": ("konsil.cli.close", "Close a batch (its ratings become final) or reopen it."),
    "adjudication": (
        "konsil.cli.adjudication",
        "List, open or close the adjudication of disagreements.",
    ),
    "interim": (
        "konsil.cli.interim",
        "Make a planned interim analysis, or list them and what is due.",
    ),
    "status": ("konsil.cli.status", "Summarise the contents of the study's database."),
    "simulate": ("konsil.cli.simulate", "Simulate a panel's ratings from stated parameters."),
    "power": (
        "konsil.cli.power",
        "Estimate precision and power by simulation of the whole study.",
    ),
    "rehearse": (
        "konsil.cli.rehearse",
        "Run the study on a copy with simulated raters and write its report.",
    ),
    "accept": (
        "konsil.cli.accept",
        "Accept a change of a form's wording after ratings were collected.",
    ),
    "freeze": (
        "konsil.cli.freeze",
        "Freeze the analysis plan; the report lists later changes.",
    ),
    "unblind": (
        "konsil.cli.unblind",
        "Unblind a study (requires a frozen analysis plan).",
    ),
    "analyse": (
        "konsil.cli.analyse",
        "Run the analyses of study.toml and write the estimates.",
    ),
    "report": ("konsil.cli.report", "Run the analyses and write the self-contained report."),
    "export": (
        "konsil.cli.export",
        "Export records, a release for publication, or Label Studio tasks.",
    ),
    "local": ("konsil.cli.local", "Install, list and remove models that run on this machine."),
    "backup": (
        "konsil.cli.backup",
        "Back up the database or the whole study while raters work.",
    ),
    "backup-key": (
        "konsil.cli.backup_key",
        "Create a pair of keys for encrypted backups.",
    ),
    "restore": (
        "konsil.cli.restore",
        "Restore a study from a backup, or test a backup.",
    ),
    "verify-log": (
        "konsil.cli.verify_log",
        "Verify the audit log's hash chain and the records it covers.",
    ),
    "erase": (
        "konsil.cli.erase",
        "Erase a rater: ratings, texts, drafts, profile, name and address.",
    ),
    "person": (
        "konsil.cli.person",
        "Export all data that are stored about one person.",
    ),
    "log": ("konsil.cli.log", "List the audit log: who did what, when and why."),
}
"""Command -> its module, which has a click command `command`, and its help in one line."""


class Lazy(click.Group):
    """A group that imports a command's module only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order in which the help lists them."""
        return [name for names in GROUPS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command: click.Command = module.command
        named = {cmd_name: command}
        if isinstance(command, click.Group):
            named |= {f"{cmd_name} {name}": each for name, each in command.commands.items()}
        for name, each in named.items():
            if each.epilog is None:  # a module that is imported already keeps its commands
                each.epilog = examples_block(name)
                each.params += verbosity_options()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table above under their headings, without importing them."""
        width = max(map(len, COMMANDS))
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{width}}", COMMANDS[name][1]) for name in names])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a misspelt one is answered with the nearest name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no such command {args[0]!r}; {nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401 - click's own arguments
        """Run the command line with a verbosity of its own."""
        with timed("konsil"):
            return super().main(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what a command returns
        """Run the command; its sentences name flags."""
        with options_as_flags(), printed(_notice):
            return super().invoke(ctx)


def _notice(sentence: str) -> None:
    click.echo(Note(f"note: {show(sentence)}"), err=True)


@click.group(
    cls=Lazy,
    params=verbosity_options(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="konsil")
def group() -> None:
    """Evaluate clinical language models by panels of experts and by LLM judges."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line.

    Bad input prints one sentence and exits with 2, and so does every error of the user's.
    """
    # Before NumPy is loaded: on tiles that fit the cache, OpenBLAS' threads mostly wait for one
    # another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A command is short: most of what it makes stays until its end, and is not searched again and
    # again.
    gc.set_threshold(50_000, 20, 100)
    # The end of the process frees its memory at once: nothing is searched for what could be freed.
    atexit.register(gc.freeze)
    guard_terminal()
    try:
        # Errors come here as exceptions: click would print its own, in its own words.
        group.main(args=arguments, standalone_mode=False)
    except click.ClickException as error:
        _one_sentence(error)
        sys.exit(2)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(130)
    except KonsilError as error:
        # Every problem of a protocol and every analysis has a line of its own; any other error is
        # one sentence.
        lines = str(error).split("\n") if isinstance(error, StudyError) else [str(error)]
        lines = list(error.sentences) if isinstance(error, IncompleteError) else lines
        lines = error.lines if isinstance(error, UnclearTableError) else lines
        click.echo(Block("konsil: " + "\n".join(map(show, lines))), err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (head, less): nothing is wrong and nobody is listening.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        # A full disk, a folder without permission: the user's surroundings, not a fault of ours.
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"konsil: {show(f'{where}{error.strerror or error}')}", err=True)
        sys.exit(2)


def _one_sentence(error: click.ClickException) -> None:
    """What was wrong with the command line, in one line; the help where nothing was asked for."""
    if type(error).__name__ == "NoArgsIsHelpError":
        click.echo(error.format_message(), err=True)
        return
    click.echo(f"konsil: {show(' '.join(error.format_message().split()))}", err=True)
