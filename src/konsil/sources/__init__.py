"""Files of the world -> records: tables (CSV, TSV, JSON, Parquet, XLSX) and Label Studio's export."""

from konsil.sources.problems import Parsed, Problem, raise_if
from konsil.sources.table import Table, read_table

__all__ = ["Parsed", "Problem", "Table", "raise_if", "read_table"]
