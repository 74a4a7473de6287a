"""Intervals and tests of any statistic.

Bootstrap, linearisation, permutation, exchange, posterior, multiplicity.
"""
