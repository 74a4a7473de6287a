"""Parts that all sections of a report share: translated results, tables, numbers, anchors."""
