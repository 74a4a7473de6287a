"""Agreement on scales of many values, from sums whose number grows with the values at most."""
