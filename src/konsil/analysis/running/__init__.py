"""All analyses of a protocol: checked, computed and described."""
