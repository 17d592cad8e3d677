"""Reads what a Spark Connect client recorded: puts its command on top of the explained plan."""
