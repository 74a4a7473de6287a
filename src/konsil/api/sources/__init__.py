"""A source of a study: its columns and labels, where study.toml does not state them."""
