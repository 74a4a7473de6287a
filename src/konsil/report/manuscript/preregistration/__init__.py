"""A preregistration text of a protocol, in the order of the standard form of OSF."""
