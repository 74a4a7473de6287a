"""Intervals and tests of any statistic: bootstrap, linearisation, permutation, exchange, posterior, multiplicity."""
