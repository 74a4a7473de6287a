"""The sections of study.toml, each decoded and checked by itself."""
