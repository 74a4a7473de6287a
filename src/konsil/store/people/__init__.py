"""Names, links and devices, apart from ratings."""
