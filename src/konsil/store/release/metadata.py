"""What a release states about itself: DataCite's metadata of the data set.

Only what study.toml states is written; what is missing is listed and never made up.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from konsil.study import Study
from konsil.study.definition.publication import Creator, Publication

DATACITE = "datacite.json"
"""The file with DataCite's metadata."""


def missing_facts(facts: Publication) -> tuple[str, ...]:
    """The keys of [publication] that catalogues require and nothing states."""
    required = ("creators", "publisher", "year", "doi", "description")
    return tuple(key for key in required if not getattr(facts, key))


def data_url(facts: Publication) -> str:
    """Where the data are found; empty without a DOI."""
    return f"https://doi.org/{facts.doi}" if facts.doi else ""


def page_of_licence(name: str) -> str:
    """The page of an SPDX licence; an expression of several licences has none.

    >>> page_of_licence("CC-BY-4.0"), page_of_licence("MIT OR Apache-2.0")
    ('https://spdx.org/licenses/CC-BY-4.0.html', '')
    """
    return "" if " " in name else f"https://spdx.org/licenses/{name}.html"


def licence_of(study: Study) -> str:
    """The licence of released data."""
    stated = study.publication.licence if study.publication is not None else ""
    return (stated or study.licence).strip()


def facts_of(study: Study, *, is_played: bool) -> Publication:
    """The publication's facts; the description says what is simulated."""
    stated = study.publication or Publication()
    description = " ".join((stated.description or study.description).split())
    if is_played:
        description = f"Models were scripted test endpoints; no language model. {description}"
    if study.simulated:
        description = f"Simulated ratings. {description}"
    return replace(
        stated,
        title=stated.title.strip() or study.title.strip(),
        publisher=stated.publisher.strip(),
        licence=licence_of(study),
        description=description.strip(),
    )


def note(missing: tuple[str, ...]) -> str:
    """One sentence on what is missing; empty where nothing is.

    >>> note(("year", "doi"))
    'datacite.json and croissant.json lack: year, doi; state them in [publication] of study.toml'
    """
    if not missing:
        return ""
    return (
        f"{DATACITE} and croissant.json lack: {', '.join(missing)}; state"
        f" {'them' if len(missing) > 1 else 'it'} in [publication] of study.toml"
    )


def datacite(facts: Publication) -> str:
    """The metadata by DataCite's schema 4.5, as JSON."""
    content: dict[str, Any] = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "doi": facts.doi,
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Ratings"},
        "titles": [{"title": facts.title}],
        "creators": [_creator(creator) for creator in facts.creators],
        "publisher": {"name": facts.publisher} if facts.publisher else {},
        "publicationYear": "" if facts.year is None else str(facts.year),
        "subjects": [{"subject": keyword} for keyword in facts.keywords],
        "descriptions": (
            [{"description": facts.description, "descriptionType": "Abstract"}]
            if facts.description
            else []
        ),
        "rightsList": [_rights(facts)],
        "formats": ["text/csv", "application/vnd.apache.parquet"],
    }
    stated = {key: value for key, value in content.items() if value}
    return json.dumps(stated, ensure_ascii=False, indent=2) + "\n"


def _creator(creator: Creator) -> dict[str, Any]:
    kind = "Personal" if creator.kind == "person" else "Organizational"
    content: dict[str, Any] = {"name": creator.name.strip(), "nameType": kind}
    if creator.orcid:
        content["nameIdentifiers"] = [
            {
                "nameIdentifier": f"https://orcid.org/{creator.orcid}",
                "nameIdentifierScheme": "ORCID",
                "schemeUri": "https://orcid.org",
            }
        ]
    if creator.affiliation:
        content["affiliation"] = [{"name": creator.affiliation.strip()}]
    return content


def _rights(facts: Publication) -> dict[str, str]:
    page = page_of_licence(facts.licence)
    if not page:
        return {"rights": facts.licence}
    return {
        "rights": facts.licence,
        "rightsIdentifier": facts.licence,
        "rightsIdentifierScheme": "SPDX",
        "schemeUri": "https://spdx.org/licenses/",
        "rightsUri": page,
    }
