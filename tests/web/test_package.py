"""The pages' package loads the application only when it is asked for."""

from __future__ import annotations

import pytest

import konsil.web
from konsil.web.app.app import create_app
from konsil.web.site.site import Options


def test_the_application_and_its_options_are_the_packages() -> None:
    assert konsil.web.create_app is create_app
    assert konsil.web.Options is Options
    assert sorted(konsil.web.__all__) == ["Options", "create_app"]


def test_any_other_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match=r"^module 'konsil\.web' has no attribute 'apps'$"):
        konsil.web.apps  # noqa: B018 - read for its failure
