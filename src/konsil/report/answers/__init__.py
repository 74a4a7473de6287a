"""The first page: the answer to each question of the protocol, and what limits the answers."""
