"""The rows of all analyses: computed part by part, here or elsewhere, and adjusted together."""
