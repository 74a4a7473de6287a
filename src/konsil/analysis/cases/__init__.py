"""Cases with masked information: degradation, mismatch, effects, crossover, approval."""
