"""The pages on which a study is set up, by one person on this machine."""
