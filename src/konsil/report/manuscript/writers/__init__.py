"""Writers of a document: Word, LaTeX, Markdown, Excel."""
