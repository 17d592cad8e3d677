"""Readers of plans into one relational algebra: `spark` for Spark's plans, `database_sql` for SQL text."""
