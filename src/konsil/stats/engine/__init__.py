"""What every statistic stands on: sums over clusters, weights, resamples, tables of labels, ranks."""
