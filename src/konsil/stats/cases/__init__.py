"""Cases level by level: degradation, repeated-measures ANOVA, effect sizes."""
