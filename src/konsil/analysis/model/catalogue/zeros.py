"""What 0 means, in the words beside a figure's line, for statistics that can be above or below."""

from __future__ import annotations

from konsil.errors.message import message

CHANCE = message("chance", message_id="answer.line_chance")
NO_ASSOCIATION = message("no association", message_id="axis.line_association")
NO_CHANGE = message("no change", message_id="axis.line_change")
NO_DIFFERENCE = message("no difference", message_id="answer.line_zero")
NO_EFFECT = message("no effect", message_id="axis.line_effect")
NO_PREFERENCE = message("no preference", message_id="axis.line_preference")
NO_REVERSAL = message("no reversal", message_id="axis.line_reversal")
MEAN_OF_SYSTEMS = message("mean of the systems", message_id="axis.line_mean_of_systems")
