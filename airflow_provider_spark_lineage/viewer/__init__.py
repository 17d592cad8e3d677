"""The lineage viewer: OpenLineage events as one document, and the modules that draw it in a browser."""
