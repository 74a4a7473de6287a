"""Installed models on this machine: their folder, their installation and removal.

A model is installed or removed completely or not at all.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from konsil.collect.local.local_gguf import read_head
from konsil.collect.local.shipped_model import SHIPPED
from konsil.errors import CollectError, nearest, option

PLACE = "KONSIL_MODELS"
"""Environment variable with the folder of models, instead of the platform's folder for users'
data."""
WEIGHTS = "model.gguf"
RECORD = "model.json"
_STALE = 3600.0
"""Seconds after which what an installation left unfinished is taken away by the next one."""
_CHUNK = 1 << 20
_TYPES = {"str": str, "int": int}


@dataclass(frozen=True, slots=True)
class Model:
    """One installed model."""

    id: str
    """What a study calls it: local:ID."""
    sha256: str
    """The digest of its weights: what tells two models of one name apart."""
    size: int
    """Bytes of its weights."""
    name: str = ""
    """What it calls itself."""
    licence: str = ""
    """The licence that its file or its origin states; empty: none is stated."""
    origin: str = ""
    """Where its weights come from."""
    context: int = 0
    """The longest context it was made for, in tokens; 0: not stated."""

    @property
    def file(self) -> Path:
        """Its weights."""
        return models_place() / self.id / WEIGHTS


def models_place() -> Path:
    """The folder of models: KONSIL_MODELS, or konsil/models in the platform's user data."""
    stated = os.environ.get(PLACE, "")
    if stated:
        return Path(stated).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "konsil" / "models"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "konsil" / "models"
    base = os.environ.get("XDG_DATA_HOME", "")
    # The convention: a relative path there is invalid and is ignored.
    return (
        (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share")
        / "konsil"
        / "models"
    )


def installed() -> tuple[Model, ...]:
    """All installed models, by name; nothing where there are none."""
    place = models_place()
    if not place.is_dir():
        return ()
    models = [
        _read(p)
        for p in sorted(place.iterdir())
        if not p.name.startswith(".") and (p / RECORD).is_file()
    ]
    return tuple(models)


def find(model: str) -> Model:
    """The installed model of this name; a CollectError says how to install one."""
    if _is_name(model) and (models_place() / model / RECORD).is_file():
        entry = _read(models_place() / model)
        size = entry.file.stat().st_size if entry.file.is_file() else -1
        if size != entry.size:
            raise CollectError(
                f"model 'local:{model}': its weights in {entry.file} are damaged (expected"
                f" {entry.size:,} bytes); run 'konsil local remove {model}' and install it again"
            )
        return entry
    if model == SHIPPED.id:
        raise CollectError(f"model 'local:{model}': is not installed; run 'konsil local install'")
    names = {SHIPPED.id, *(m.id for m in installed())}
    raise CollectError(
        f"model 'local:{model}': is not installed; {nearest(model, names)}; weights of your own:"
        f" konsil local install --file FILE.gguf --id {model if _is_name(model) else 'NAME'}"
    )


def remove(model: str) -> Model:
    """Take a model's weights away."""
    valid_names = [m.id for m in installed()]
    if model not in valid_names:
        raise CollectError(f"there is no model {model!r} here; {nearest(model, valid_names)}")
    installed_model = _read(models_place() / model)
    removed_folder = models_place() / f".gone-{model}-{os.getpid()}"
    # Renamed first: whoever is stopped here leaves no half model under its name.
    os.rename(models_place() / model, removed_folder)  # noqa: PTH104 - one atomic step
    shutil.rmtree(removed_folder)
    return installed_model


def store_weights(
    model: str,
    file: IO[bytes],
    *,
    origin: str,
    expected: str = "",
    licence: str = "",
    terms: bytes = b"",
    longest: int | None = None,
) -> Model:
    """Copy weights to their folder and record what their head states.

    Their digest is checked where one is expected.

    Nothing is to be seen of the model before it is whole. The same weights again change nothing.
    """
    check_name(model)
    place = models_place()
    place.mkdir(parents=True, exist_ok=True)
    # What runs that were killed left behind; younger drafts may be another run's.
    _sweep(place)
    # In the same folder, so that the rename below is one step.
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=place))
    try:
        sha256 = _copy(file, draft / WEIGHTS, longest)
        if expected and sha256 != expected:
            raise CollectError(
                f"{origin}: the weights are not the expected ones: SHA-256 {sha256[:16]}...,"
                f" expected {expected[:16]}...; nothing was installed"
            )
        head = read_head(draft / WEIGHTS, origin.removeprefix("file "))
        context = head.get(f"{head.get('general.architecture', '')}.context_length", 0)
        new_model = Model(
            model,
            sha256,
            (draft / WEIGHTS).stat().st_size,
            str(head.get("general.name", "")),
            licence or str(head.get("general.license", "")),
            origin,
            context if isinstance(context, int) else 0,
        )
        if terms:
            (draft / "LICENSE").write_bytes(terms)
        (draft / RECORD).write_text(
            json.dumps(dataclasses.asdict(new_model), indent=2, ensure_ascii=False), "utf-8"
        )
        # `mkdtemp` lets in one user alone; a model may be read by all.
        draft.chmod(0o755)
        try:
            os.rename(draft, place / model)  # noqa: PTH104 - one atomic step
        except OSError:
            return _already_installed(model, new_model)
        return new_model
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_name(model: str) -> None:
    """Refuse a name that could not stand after 'local:', or not be a folder's."""
    if not _is_name(model):
        raise CollectError(
            f"{option('model', flag='id')} {model!r}: expected letters, digits, '.', '_' and '-',"
            " beginning with one of the first"
        )


def _is_name(model: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", model) is not None


def _already_installed(model: str, new_model: Model) -> Model:
    installed_model = next((m for m in installed() if m.id == model), None)
    if installed_model is None:
        raise CollectError(
            f"{models_place() / model}: exists and contains no model; remove it first"
        )
    if installed_model.sha256 != new_model.sha256:
        raise CollectError(
            f"there is another model {model!r} already, of other weights; choose another"
            f" {option('model', flag='id')}, or run"
            f" 'konsil local remove {model}' first"
        )
    return installed_model


def _copy(file: IO[bytes], target: Path, longest: int | None) -> str:
    digest = hashlib.sha256()
    with target.open("wb") as out:
        while part := file.read(_CHUNK):
            if longest is not None and out.tell() + len(part) > longest:
                # a packed file may unpack to any size; of what is cut off the digest is another one
                break
            digest.update(part)
            out.write(part)
        # On the disk before the record says that it is there.
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


def _read(folder: Path) -> Model:
    try:
        data = json.loads((folder / RECORD).read_text("utf-8"))
        model = Model(**data)
        # Exactly these types: True would pass for a number.
        if any(
            type(getattr(model, f.name)) is not _TYPES[str(f.type)]
            for f in dataclasses.fields(Model)
        ):
            raise TypeError
        if not 0 <= model.size < 1 << 63:
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        raise CollectError(
            f"{folder / RECORD}: cannot be read; remove the folder and install the model again"
        ) from None
    return dataclasses.replace(model, id=folder.name)


def _sweep(place: Path) -> None:
    for leftover in _leftover_files(place):
        shutil.rmtree(leftover, ignore_errors=True)


def _leftover_files(place: Path) -> Iterator[Path]:
    for path in place.iterdir():
        with contextlib.suppress(OSError):
            if (
                path.name.startswith((".draft-", ".gone-"))
                and time.time() - path.stat().st_mtime > _STALE
            ):
                yield path
