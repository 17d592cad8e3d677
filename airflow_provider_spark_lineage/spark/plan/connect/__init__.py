"""Reader of the records of a Spark Connect client: puts its command on top of the explained plan."""
