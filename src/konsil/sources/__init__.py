"""Files of the world -> records: tables (CSV, TSV, JSON, Parquet, XLSX) and Label Studio's export."""

from konsil.sources.answers import read_answers
from konsil.sources.items import read_items
from konsil.sources.labelstudio import read_labelstudio
from konsil.sources.problems import Parsed, Problem, raise_if
from konsil.sources.ratings import ParsedRatings, missing_hint, read_ratings, with_label
from konsil.sources.table import Table, read_table

__all__ = [
    "Parsed",
    "ParsedRatings",
    "Problem",
    "Table",
    "missing_hint",
    "raise_if",
    "read_answers",
    "read_items",
    "read_labelstudio",
    "read_ratings",
    "read_table",
    "with_label",
]
