"""The form: criteria, scales, fields, labels, digests, the schema of a reply."""
