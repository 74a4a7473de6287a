"""The items that are rated: strata, sample, sets."""
