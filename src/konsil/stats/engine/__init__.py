"""The foundations of every statistic.

Sums over clusters, weights, resamples, tables of labels, ranks.
"""
