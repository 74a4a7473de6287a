"""Tables that are read by pieces: their pieces are coded where a runner computes them."""
