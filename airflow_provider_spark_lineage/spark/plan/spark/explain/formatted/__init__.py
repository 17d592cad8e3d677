"""Reader of the `formatted` explain text: translates its physical plan to equivalent logical nodes."""
