"""Reader of SQL text into the algebra, for plans with a query that a database ran."""
