"""Reader of the `formatted` explain text: translates its physical plan to equivalent logical nodes.

- The initial plan of an execution is read: adaptive execution leaves out parts that turn out to be empty.
- An aggregate is several operators; the last one names the columns that the first one reads.
- Known additions of the optimizer are left out: that a join's key is not null, the keys that it adds for
  DISTINCT. An ExistenceJoin is read as the EXISTS that it was.
- If the optimizer replaced something, the lineage shows what ran: a subquery of IN or EXISTS is a JOIN,
  `dropDuplicates` is an aggregation, a session variable is its value (a gap).
- Columns that keep their id are the same values, also through an unknown operator. Columns that an unknown
  operator computes have no edge; columns after the end of a cut list (`spark.sql.debug.maxToStringFields`)
  have none, either.
- A batch of a stream lacks its sink: a gap.

`tests/event_log/differences_formatted.txt` lists every difference from the records.
"""
