"""Cases masked level by level: degradation, mismatch, effects, crossover, approval of known failures."""
