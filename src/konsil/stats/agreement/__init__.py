"""Agreement of raters: kappa and its kin, alpha, AC1 and AC2, ICC, rank correlations, majorities."""
