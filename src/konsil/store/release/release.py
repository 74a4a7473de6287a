"""A folder fit for publication.

Pseudonymous raters, plain tables, and what is needed to understand them.
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

from konsil.errors import StoreError, option
from konsil.store.calls.call_settings import callees
from konsil.store.engine import frames
from konsil.store.engine.folders import sha256, whole_folder
from konsil.store.log.db import Store
from konsil.store.release import release_text
from konsil.store.release.pseudonyms import Pseudonyms
from konsil.store.release.release_tables import Tables
from konsil.store.release.released import Released
from konsil.study import Study

DIGESTS = "SHA256SUMS"
"""The file with the digests of all others, as `sha256sum -c` reads it."""


def release(
    store: Store,
    study: Study,
    folder: str | Path,
    *,
    key: bytes,
    k: int = 3,
    texts: bool = False,
    order: bool = False,
    unlink: bool = False,
    linked: bool = False,
    overwrite: bool = False,
) -> Released:
    """Write a folder fit for publication; it appears complete or not at all.

    People's identifiers, and those of tasks, which may contain them, become keyed pseudonyms; the
    key is written nowhere. Judges and programs keep their names. Strata are suppressed until every
    combination of them belongs to `k` raters of a panel. Notes and free-text replies are left out
    unless `texts` asks for them; times of day are always left out. The order of people's tasks and
    answers, their batches and repeated tasks, which the protocol's plan tells, are left out unless
    `order` asks for them. With `unlink` a person has another pseudonym on each item; where the
    plan, drawn again, would tell who somebody is by the set of their tasks, one of `unlink` and
    `linked` must say what is wanted.
    """
    if not study.licence.strip():
        raise StoreError(
            "study.toml.licence: is empty; a release says what others may do with it, such as"
            " CC-BY-4.0"
        )
    if k < 1:
        raise StoreError(f"k: expected 1 or more raters, got {k}")
    folder, names = Path(folder), Pseudonyms(key)
    with whole_folder(folder, mark=DIGESTS, overwrite=overwrite) as draft_folder:
        with store.view() as view:
            tables = Tables(study, view, names, k=k, texts=texts, order=order, unlink=unlink)
            made_of = tables.frames()
        is_played = any(callee.model.startswith("fake:") for callee in callees(store))
        if tables.recognisable and not linked:
            subject = release_text.recognisable(tables.recognisable, k)
            raise StoreError(
                f"release: {subject}, so that the plan, drawn again from study.toml, tells who they"
                f" are; {option('unlink', example='True')} gives raters another pseudonym on each"
                f" item, {option('linked', example='True')} keeps one, for those who never publish"
                " study.toml"
            )
        for name, frame in made_of.items():
            frames.write_csv(draft_folder / f"{name}.csv", [frame])
            frames.write_parquet(draft_folder / f"{name}.parquet", [frame])
        released = Released(
            folder,
            {name: frame.height for name, frame in made_of.items()},
            dict(tables.withheld),
            tables.recognisable,
            dict(tables.small_panels),
            is_played,
        )
        _instruments(draft_folder, study)
        dictionary = release_text.dictionary(
            {name: frame.columns for name, frame in made_of.items()}
        )
        frames.write_csv(draft_folder / "data_dictionary.csv", [dictionary])
        _write(draft_folder / "LICENCE.txt", release_text.licence(study))
        _write(
            draft_folder / "README.md",
            release_text.readme(study, released, k=k, texts=texts, order=order, unlink=unlink),
        )
        _write(draft_folder / DIGESTS, _digests(draft_folder))
    return released


def _instruments(draft_folder: Path, study: Study) -> None:
    """Write the forms as data and every codebook as a text to read."""
    forms = [dataclasses.asdict(i) for i in study.instruments]
    _write(
        draft_folder / "instruments.json", json.dumps(forms, ensure_ascii=False, indent=2) + "\n"
    )
    folder = draft_folder / "codebooks"
    folder.mkdir()
    for number, instrument in enumerate(study.instruments):
        # An identifier is any text; a file's name is not.
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", instrument.id).strip("-") or "instrument"
        path = folder / f"{stem}.md"
        if path.exists():
            path = folder / f"{stem}-{number}.md"
        _write(path, release_text.codebook(instrument))


def _digests(draft_folder: Path) -> str:
    paths = sorted(path for path in draft_folder.rglob("*") if path.is_file())
    return "".join(
        f"{sha256(path)}  {path.relative_to(draft_folder).as_posix()}\n" for path in paths
    )


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
