"""What a text's language and meaning are."""
