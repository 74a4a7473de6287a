"""What leaves the database: exports, releases, kits."""
