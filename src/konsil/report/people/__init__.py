"""Items and people: flow, recruitment, composition, the design as a picture."""
