"""Agreement within panels, against majorities, and of judges beside the panel's own ceiling."""
