"""The manuscript: results as Word, LaTeX, Markdown and Excel files, with complete references."""
