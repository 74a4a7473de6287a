"""Tasks and screens: who has which, drafts, batches, places, withdrawal."""
