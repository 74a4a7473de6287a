"""Tables of Real-POCQi as its authors publish them."""
