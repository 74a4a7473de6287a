"""What every part of a report is made of: results in the report's language, tables, numbers, names, anchors."""
