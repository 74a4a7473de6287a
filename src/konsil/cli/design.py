"""konsil design: a study set up in the browser."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path

import click

from konsil.cli.folder import StudyFolder
from konsil.locale import complete_languages


@click.command(short_help="Set up a study in the browser, or change one, without writing TOML.")
@click.argument("folder", type=StudyFolder())
@click.option(
    "--port",
    default=0,
    type=click.IntRange(0, 65535),
    help="The port to listen on; default: any free port.",
)
@click.option(
    "--language",
    type=click.Choice(complete_languages()),
    help="The language of a new study's texts; default: the language of the pages.",
)
@click.option("--no-browser", is_flag=True, help="Print the link and open no browser.")
def command(folder: Path, port: int, language: str | None, no_browser: bool) -> None:
    """Set up the study in FOLDER on pages that this computer alone can open.

    The pages read your tables, propose what each column holds, and show the rating page, the plan
    with its hours, and the power. Nothing in FOLDER is written until you save.
    """
    from konsil.api.design.serving import design

    def ready(link: str) -> None:
        click.echo(f"{folder}: open {link}")
        click.echo("  the link works once, on this computer; stop with Ctrl+C")
        if not no_browser:
            # Beside the server, which a browser in the terminal would otherwise keep waiting.
            threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()

    design(folder, port=port, language=language, ready=ready)
