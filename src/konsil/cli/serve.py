"""konsil serve: the rating pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from konsil.api.running.requests import HOST, PORT
from konsil.cli.folder import on_folder

if TYPE_CHECKING:
    from konsil.web.site.site import Options


@click.command(short_help="Serve the rating pages and the study dashboard.")
@on_folder
@click.option(
    "--host",
    default=HOST,
    show_default=True,
    help="Address to listen on; 0.0.0.0 for a whole network.",
)
@click.option(
    "--port",
    default=PORT,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Port to listen on.",
)
@click.option(
    "--url",
    default="",
    metavar="URL",
    help="Public address, such as https://study.example.org.",
)
@click.option(
    "--trusted-proxy",
    "trusted_proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Proxy whose X-Forwarded-For header is trusted; repeatable.",
)
@click.option(
    "--posts-a-minute",
    default=600,
    show_default=True,
    type=click.IntRange(1),
    help="Maximum number of forms and saves per person and minute.",
)
@click.option(
    "--metrics",
    default="",
    metavar="HOST:PORT",
    help="Address for metrics in the format of Prometheus, such as 127.0.0.1:9464.",
)
@click.option(
    "--passkeys",
    is_flag=True,
    help="Require a passkey from owners, registered at their first sign-in.",
)
@click.option(
    "--studies",
    type=click.Path(path_type=Path),
    default=None,
    metavar="PLACE",
    help="Folder of several studies, or a TOML file that lists them.",
)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Number of server processes; PostgreSQL only.",
)
def command(
    folder: Path,
    database: str,
    host: str,
    port: int,
    studies: Path | None,
    workers: int,
    **limits: Any,  # noqa: ANN401 - the fields of the server's options
) -> None:
    """Serve the rating pages of the study in FOLDER until stopped with Ctrl+C.

    Behind a TLS proxy, state the public address with --url; requests from other origins are
    refused. The address may contain a path, so that one host can serve several studies; the proxy
    must pass paths on unchanged.

    Tasks are assigned first, if this was not done and is possible. While items are still being
    screened, marked or rewritten on the pages, only the pages for that work are served.

    With --studies, all studies in subfolders of PLACE are served under one address, each with its
    own path, cookie, database and people; the address itself lists them for staff.
    """
    from konsil.api import open_folder
    from konsil.api.running.checking import unanswered_note
    from konsil.api.serving.opening import assign_tasks, check_one_database, check_passkeys
    from konsil.cli.terminal import Note
    from konsil.errors import KonsilError
    from konsil.web.app.serve import serve, serve_many
    from konsil.web.site.site import Options, checked

    url = limits.pop("url") or f"http://{host}:{port}"
    options = checked(Options(url=url, **limits))
    check_passkeys(options)
    if studies is not None:
        if folder != Path() or database:
            raise KonsilError(
                "--studies: state no FOLDER and no --database; each study has its own folder and"
                " database"
            )
        check_one_database()
        _serve_centre(studies, options, host=host, port=port, workers=workers)
        return
    opened = open_folder(folder, database=database)
    if workers > 1 and not opened.database.startswith("postgres"):
        raise KonsilError(
            f"--workers {workers}: several processes need PostgreSQL; state its URL with"
            " --database, or use one process, as SQLite requires"
        )
    status = assign_tasks(opened)
    if (note := unanswered_note(opened)) is not None:
        click.echo(Note(f"note: {note}"), err=True)

    def started() -> None:
        click.echo(f"{opened.study.title}")
        click.echo(f"  {status}; pages at {options.url}; stop with Ctrl+C")
        _advise(options, host)

    at: dict[str, Any] = {"host": host, "port": port, "started": started}
    if workers > 1:
        serve_many(opened.study, opened.database, options, workers=workers, **at)
        return
    with opened.store() as store:
        serve(opened.study, store, options, **at)


def _serve_centre(place: Path, options: Options, *, host: str, port: int, workers: int) -> None:
    from konsil.api.serving.opening import (
        check_centre,
        open_study,
        people_notes,
        readable_studies,
        unanswered_notes,
    )
    from konsil.cli.terminal import Note
    from konsil.web.app.serve import serve_centre
    from konsil.web.centre.settings import read_settings

    settings = read_settings(place)
    check_centre(settings, workers)
    readable = readable_studies(settings)
    for note in (*people_notes(settings, readable), *unanswered_notes(settings)):
        click.echo(Note(f"note: {note}"), err=True)

    def started() -> None:
        n = len(readable)
        click.echo(
            f"{n:,} {'study' if n == 1 else 'studies'}; list of them at {options.url}; stop with"
            " Ctrl+C"
        )
        for slug in readable:
            click.echo(f"  {options.url.rstrip('/')}/{slug}/")
        others = [place.slug for place in settings.places() if place.slug not in readable]
        if others:
            click.echo(f"  not available, as the log states: {', '.join(others)}")
        _advise(options, host)

    serve_centre(
        settings, open_study, options, host=host, port=port, workers=workers, started=started
    )


def _advise(options: Options, host: str) -> None:
    """State what is unsafe about the address."""
    if not options.secure and host not in ("127.0.0.1", "localhost"):
        click.echo(
            "  without TLS: use it within a network you trust, or behind a proxy with --url"
            " https://..."
        )
    if options.secure and not options.trusted_proxies:
        click.echo(
            "  behind a proxy: name it with --trusted-proxy, or all visitors share one limit of"
            " attempts per minute"
        )
