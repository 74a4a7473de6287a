"""Masked cases by information level: degradation, repeated-measures ANOVA, effect sizes."""
