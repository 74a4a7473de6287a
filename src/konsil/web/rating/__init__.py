"""What raters do, without HTTP: the desk, forms, the order of work, places."""
