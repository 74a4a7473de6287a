"""LLM judges and experts: ensembles, preference, strictness, confidence, injections."""
