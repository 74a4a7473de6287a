"""From codes to an estimate with interval, test and warnings, and to differences of estimates."""
