"""Reading files into records: tables and Label Studio's export.

Tables are CSV, TSV, JSON, Parquet, XLSX, or files of SPSS or Stata.
"""
