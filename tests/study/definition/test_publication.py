"""[publication]: what is read, what is refused, and that it changes no protocol."""

from __future__ import annotations

import pytest

from konsil.errors import StudyError
from konsil.study import Study, check, parse, study_digest
from konsil.study.definition.publication import Creator, Publication, checksum

HEAD = 'title = "t"\nseed = 1\nlicence = "CC0-1.0"\n'
WHOLE = """[publication]
title = "Ratings"
creators = [
  { name = "Weber, Anna", orcid = "0000-0002-1825-0097", affiliation = "Clinic" },
  { name = "The group", kind = "organisation" },
]
publisher = "Zenodo"
year = 2026
doi = "10.5281/zenodo.1234567"
keywords = ["agreement"]
"""


def study(text: str) -> Study:
    made = parse(HEAD + text, lambda name: name)
    check(made, "study.toml")
    return made


def test_everything_is_read():
    assert study(WHOLE).publication == Publication(
        title="Ratings",
        creators=(
            Creator("Weber, Anna", "0000-0002-1825-0097", "Clinic"),
            Creator("The group", kind="organisation"),
        ),
        publisher="Zenodo",
        year=2026,
        doi="10.5281/zenodo.1234567",
        keywords=("agreement",),
    )


def test_a_doi_that_is_added_later_does_not_change_the_protocol():
    assert study_digest(study(WHOLE)) == study_digest(study(""))


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("0097", "0098", "creators[0].orcid: '0000-0002-1825-0098' is not an ORCID iD: its last"),
        ("0000-0002", "https://orcid.org/0000-0002", "expected 16 characters such as"),
        (
            'kind = "organisation"',
            'kind = "organisation", orcid = "0000-0002-1694-233X"',
            "creators[1].orcid: an organisation has no ORCID iD",
        ),
        ('"The group"', '" "', "creators[1].name: is empty"),
        (
            '"10.5281',
            '"https://doi.org/10.5281',
            "doi: 'https://doi.org/10.5281/zenodo.1234567' is not a DOI; expected"
            " '10.5281/zenodo.1234567'",
        ),
        ("10.5281/zenodo", "10/zenodo", "is not a DOI; expected one such as 10.5281"),
        ("2026", "26", "year: expected a year of four digits, got 26"),
        (
            "year",
            'licence = "MIT"\nyear',
            "licence: 'MIT' differs from the study's licence 'CC0-1.0'",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(before: str, after: str, says: str):
    with pytest.raises(StudyError) as error:
        study(WHOLE.replace(before, after, 1))
    assert str(error.value).startswith("study.toml: publication.")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "orcid", ["0000-0002-1825-0097", "0000-0001-5109-3700", "0000-0002-1694-233X"]
)
def test_published_orcids_have_their_checksum(orcid: str):
    """The examples of ORCID's own documentation."""
    assert checksum(orcid[:-1]) == orcid[-1]
