"""Agreement of raters.

Kappa and related coefficients, alpha, AC1 and AC2, ICC, rank correlations, majorities.
"""
