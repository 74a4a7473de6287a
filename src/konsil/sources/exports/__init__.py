"""Exports of annotation and survey tools, recognised by their content: tables with known roles."""
