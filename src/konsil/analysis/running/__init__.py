"""All analyses of a protocol: checked, computed, described and bounded."""
