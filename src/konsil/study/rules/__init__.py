"""What must hold between sections."""
