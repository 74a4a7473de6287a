"""Agreement within panels, against majorities, and of judges with the panel's own ceiling."""
