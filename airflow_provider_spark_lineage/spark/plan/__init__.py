"""Readers of plans into one relational algebra: of Spark (`spark`), of Spark Connect, and SQL text."""
