"""Letters to raters: settings, texts, sending, bounces, and lists of contacts."""
