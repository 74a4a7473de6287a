"""Several workers on one study: leased works, and limits and a budget that all of them share."""
