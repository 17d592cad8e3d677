"""The contract between writers and readers of records: plain values, without Spark and without secrets."""
