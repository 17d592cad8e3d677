"""Reader of a record's analyzed Spark plan into the algebra, with tables of one row per Spark class."""
