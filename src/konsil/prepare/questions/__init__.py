"""Questions: screening, rewriting, themes, and what models are asked about them."""
