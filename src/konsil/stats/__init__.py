"""Numbers from arrays; knows nothing of studies.

A statistic is a function of sums over clusters.
"""
