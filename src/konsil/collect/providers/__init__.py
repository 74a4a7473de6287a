"""One request to one model: vendors, bodies, replies, failures."""
