"""The database: connections, schema, migrations, rows, reading, files."""
