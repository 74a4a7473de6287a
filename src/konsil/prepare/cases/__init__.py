"""Cases: marks, masked versions, what is left over, hints."""
