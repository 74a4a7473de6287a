"""The group of commands: names and one-line helps here, everything else in the command's own module."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from konsil.cli.terminal import Block, guard_terminal, show
from konsil.errors import IncompleteError, KonsilError, StudyError, nearest, options_as_flags
from konsil.version import __version__

COMMANDS = {
    "demo": (
        "konsil.cli.demo",
        "Make a small simulated study in a new folder and write its report.",
    ),
    "agreement": (
        "konsil.cli.agreement",
        "Agreement statistics of a table of ratings; no study needed.",
    ),
    "preference": (
        "konsil.cli.preference",
        "Who is preferred in a table of comparisons; no study needed.",
    ),
    "statistics": (
        "konsil.cli.statistics",
        "List the statistics that an analysis can ask for, or explain one.",
    ),
    "new": ("konsil.cli.new", "Make a folder with a study.toml to start from."),
    "check": ("konsil.cli.check", "Check a study's protocol and say what it asks for."),
    "codebook": ("konsil.cli.codebook", "Write the codebook as a page to print, and as a PDF."),
    "import": ("konsil.cli.import_", "Read items, answers and ratings into the study's database."),
    "screen": (
        "konsil.cli.screen",
        "Look for questions that should not be rated, and take people's decisions.",
    ),
    "duplicates": ("konsil.cli.duplicates", "Search for questions that are asked more than once."),
    "prepare": ("konsil.cli.prepare", "Draw the items that are rated: strata, sample, sets."),
    "mask": (
        "konsil.cli.mask",
        "Take marks in cases, say what is left over, make versions that tell less and less.",
    ),
    "probe": (
        "konsil.cli.probe",
        "Let a model guess the diagnosis from each level of the masked cases.",
    ),
    "rewrite": (
        "konsil.cli.rewrite",
        "Let a model put questions in better words, and take people's decisions.",
    ),
    "themes": ("konsil.cli.themes", "Find what the questions are about, and take people's edits."),
    "curation": ("konsil.cli.curation", "List what was decided before the study, and by whom."),
    "plan": ("konsil.cli.plan", "Draw who rates what, and say how even it is."),
    "answer": ("konsil.cli.answer", "Let the systems that have a model answer the items."),
    "judge": ("konsil.cli.judge", "Let the judges rate the tasks that the plan gave them."),
    "serve": ("konsil.cli.serve", "Serve the rating pages to the people who rate."),
    "invite": (
        "konsil.cli.invite",
        "Make personal links for raters, or for those who run the study.",
    ),
    "kit": ("konsil.cli.kit", "Write a rater's batch as one file for a place without a network."),
    "withdraw": (
        "konsil.cli.withdraw",
        "Let a rater go, and give what is not rated to the others.",
    ),
    "places": (
        "konsil.cli.places",
        "List the places that people sign up for, or add some after the plan.",
    ),
    "succeed": (
        "konsil.cli.succeed",
        "List the places that nobody has, or name who takes one over.",
    ),
    "close": ("konsil.cli.close", "Close a batch, so that its ratings stand; or open it again."),
    "adjudication": (
        "konsil.cli.adjudication",
        "List what raters who differ look at together; open it, or close the round.",
    ),
    "status": ("konsil.cli.status", "Say what the study's database holds."),
    "simulate": ("konsil.cli.simulate", "Draw a simulated panel's ratings from stated parameters."),
    "power": (
        "konsil.cli.power",
        "How wide the intervals will be and what will be found, by drawing the whole study.",
    ),
    "rehearse": (
        "konsil.cli.rehearse",
        "Let simulated raters work through the pages of a copy, and see the report.",
    ),
    "accept": (
        "konsil.cli.accept",
        "Accept that the wording of a form was changed after ratings were given on it.",
    ),
    "freeze": (
        "konsil.cli.freeze",
        "Freeze the plan of analyses; what changes later is told in the report.",
    ),
    "unblind": (
        "konsil.cli.unblind",
        "Give the systems of a blinded study their names, after a freeze.",
    ),
    "analyse": (
        "konsil.cli.analyse",
        "Compute the analyses of study.toml and write the estimates.",
    ),
    "report": ("konsil.cli.report", "Compute the analyses and write the self-contained report."),
    "export": (
        "konsil.cli.export",
        "Write the records, a folder fit for publication, or tasks for Label Studio.",
    ),
    "local": ("konsil.cli.local", "Install, list and remove models that run on this machine."),
    "backup": (
        "konsil.cli.backup",
        "Copy the database while people go on rating, and check the copy.",
    ),
    "verify-log": ("konsil.cli.verify_log", "Check the audit log's chain of digests."),
    "erase": (
        "konsil.cli.erase",
        "Erase a rater: ratings, texts, drafts, profile, name and address.",
    ),
    "person": (
        "konsil.cli.person",
        "Write everything that is stored about one person, for that person.",
    ),
    "log": ("konsil.cli.log", "List the audit log: who did what, when and why."),
}
"""Command -> its module, which has a click command `command`, and its help in one line."""


class Lazy(click.Group):
    """A group that imports a command's module only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of a study's life."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table above, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a misspelt one is answered with the nearest name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no such command {args[0]!r}; {nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what a command returns
        """Run the command; its sentences name flags."""
        with options_as_flags():
            return super().invoke(ctx)


@click.group(
    cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
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
    guard_terminal()
    try:
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
        click.echo(Block("konsil: " + "\n".join(map(show, lines))), err=True)
        sys.exit(2)
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
