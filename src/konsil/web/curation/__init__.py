"""What curators do, without HTTP."""
