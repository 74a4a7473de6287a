"""What names a person, what is asked twice, what a rewording changed."""
