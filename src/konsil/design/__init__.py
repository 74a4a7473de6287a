"""Setting up a study: guesses about tables, questions, panels, plan, analyses, edits."""
