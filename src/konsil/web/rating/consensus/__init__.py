"""What raters do where their labels differ: pilot and its reasons, tie-breaks, adjudication."""
