"""Reading files into records: tables and Label Studio's export.

Tables are CSV, TSV, JSON, Parquet, XLSX, or files of SPSS or Stata.
"""

from konsil.sources.files.problems import Parsed, Problem, raise_if
from konsil.sources.files.table import Table, read_table
from konsil.sources.labelstudio.labelstudio import read_labelstudio
from konsil.sources.tables.answers import read_answers
from konsil.sources.tables.items import read_items
from konsil.sources.tables.ratings import ParsedRatings, read_ratings

__all__ = [
    "Parsed",
    "ParsedRatings",
    "Problem",
    "Table",
    "raise_if",
    "read_answers",
    "read_items",
    "read_labelstudio",
    "read_ratings",
    "read_table",
]
