"""The command line: one verb a stage."""

def main() -> None:
    """Run the command line."""
