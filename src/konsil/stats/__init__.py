"""Numbers from arrays. NumPy and SciPy only; knows nothing of studies. A statistic is a function of sums over clusters."""
