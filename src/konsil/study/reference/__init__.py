"""The keys of study.toml as data: a JSON schema, and what it says of one key."""
