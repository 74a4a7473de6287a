"""What people are in a study: raters, and those who prepare, run or analyse it."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["rater", "curator", "coordinator", "analyst", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Who may be invited as what.

A curator goes through items before the study and sees no rating and no system; an analyst sees data
blinded, a coordinator sees no outcome, an owner runs the study."""
