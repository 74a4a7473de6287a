"""Many requests: limits, budget, patience, prices, and every attempt kept before it counts."""
