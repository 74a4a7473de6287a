"""Sources of a study: columns, labels and replies of judges, as its protocol explains them."""
