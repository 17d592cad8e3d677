"""The relational algebra that every plan is read into; `spark` reads Spark's plans, `sql` reads SQL text."""
