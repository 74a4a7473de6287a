"""Which statistics there are: one frozen value each."""
