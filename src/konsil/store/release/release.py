"""A folder fit for publication.

Pseudonymous raters, plain tables, and what is needed to understand them.
"""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from pathlib import Path

from konsil.errors import StoreError, option
from konsil.store.calls.call_settings import callees
from konsil.store.engine import frames
from konsil.store.engine.folders import sha256, whole_folder
from konsil.store.log.db import Store
from konsil.store.release import croissant, metadata, release_text
from konsil.store.release.pseudonyms import Pseudonyms
from konsil.store.release.r_script import NAME, r_script
from konsil.store.release.release_tables import Tables
from konsil.store.release.released import Released
from konsil.study import Study

DIGESTS = "SHA256SUMS"
"""The file with the digests of all others, as `sha256sum -c` reads it."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """How much a release discloses of raters and their tasks."""

    k: int = 3
    """Raters of a panel who share each combination of strata; rarer ones are suppressed."""
    texts: bool = False
    """Whether notes and free-text replies are published."""
    order: bool = False
    """Whether the order of people's tasks and answers is published, with batches and repeats."""
    unlink: bool = False
    """Whether a person has another pseudonym on each item."""
    linked: bool = False
    """Whether one pseudonym a person is wanted even where the plan would tell who it is."""


FEWEST = Disclosure()
"""What is disclosed where nothing else is asked for."""


def release(
    store: Store,
    study: Study,
    folder: str | Path,
    *,
    key: bytes,
    disclosure: Disclosure = FEWEST,
    overwrite: bool = False,
) -> Released:
    """Write a folder fit for publication; it appears complete or not at all.

    People's identifiers, and those of tasks, which may contain them, become keyed pseudonyms; the
    key is written nowhere. Judges and programs keep their names. Strata are suppressed until every
    combination of them belongs to `k` raters of a panel. Notes and free-text replies are left out
    unless `texts` asks for them; times of day are always left out. The order of people's tasks and
    answers, their batches and repeated tasks, which the protocol's plan tells, are left out unless
    `order` asks for them. Where the plan, drawn again, would tell who somebody is by the set of
    their tasks, one of `unlink` and `linked` must say what is wanted.
    """
    if not metadata.licence_of(study):
        raise StoreError(
            "study.toml.licence: is empty; a release needs a licence, such as CC-BY-4.0"
        )
    k = disclosure.k
    if k < 1:
        raise StoreError(f"k: expected 1 or more raters, got {k}")
    folder, names = Path(folder), Pseudonyms(key)
    with whole_folder(folder, mark=DIGESTS, overwrite=overwrite) as draft_folder:
        with store.view() as view:
            tables = Tables(
                study,
                view,
                names,
                k=k,
                texts=disclosure.texts,
                order=disclosure.order,
                unlink=disclosure.unlink,
            )
            made_of = tables.frames()
        is_played = any(callee.model.startswith("fake:") for callee in callees(store))
        if tables.recognisable and not disclosure.linked:
            subject = release_text.recognisable(tables.recognisable, k)
            raise StoreError(
                f"release: {subject}, so the plan, recomputed from study.toml, identifies them;"
                f" {option('unlink', example='True')} gives raters another pseudonym on each"
                f" item, {option('linked', example='True')} keeps one pseudonym per rater if"
                " study.toml is never published"
            )
        for name, frame in made_of.items():
            frames.write_csv(draft_folder / f"{name}.csv", [frame])
            frames.write_parquet(draft_folder / f"{name}.parquet", [frame])
        facts = metadata.facts_of(study, is_played=is_played)
        released = Released(
            folder,
            {name: frame.height for name, frame in made_of.items()},
            dict(tables.withheld),
            tables.recognisable,
            dict(tables.small_panels),
            is_played,
            metadata.missing_facts(facts),
        )
        _instruments(draft_folder, study)
        _write(draft_folder / NAME, r_script(study.instruments, made_of, "csv"))
        dictionary = release_text.dictionary(
            {name: frame.columns for name, frame in made_of.items()}
        )
        frames.write_csv(draft_folder / "data_dictionary.csv", [dictionary])
        _write(draft_folder / "LICENCE.txt", release_text.licence(study))
        _write(
            draft_folder / "README.md",
            release_text.readme(
                study,
                released,
                k=k,
                texts=disclosure.texts,
                order=disclosure.order,
                unlink=disclosure.unlink,
            ),
        )
        _write(draft_folder / metadata.DATACITE, metadata.datacite(facts))
        # It has the checksums of all files before it, and SHA256SUMS has its own.
        described = croissant.croissant(facts, draft_folder, made_of, dictionary)
        _write(draft_folder / croissant.FILE, described)
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
