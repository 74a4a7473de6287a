"""After the draw: handover, missing tasks, meetings, washout, balance."""
