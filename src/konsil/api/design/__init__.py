"""A study set up without writing TOML: the user's files read, the draft, what is written."""
