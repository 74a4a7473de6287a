"""While a study runs: checks, plan, invitations, kits, calls of models, codebooks."""
