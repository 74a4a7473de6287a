"""A study centre: several studies under one address, and the page that lists them."""
