"""The keys of study.toml explained, one by one."""
