"""Types of columns as texts: those that Spark's parser accepts, and those that it refuses."""

from __future__ import annotations

ACCEPTED = {
    "boolean": "boolean",
    "byte": "tinyint",
    "SHORT": "smallint",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "double": "double",
    "dec": "decimal(10,0)",
    "numeric( 7 )": "decimal(7,0)",
    "decimal( 38 , 38 )": "decimal(38,38)",
    "string": "string",
    "char(3)": "string",
    "character(3)": "string",
    "varchar(5)": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "void": "void",
    "interval": "interval",
    "interval year": "interval year",
    "INTERVAL  YEAR TO MONTH": "interval year to month",
    "interval month": "interval month",
    "interval day": "interval day",
    "interval day to hour": "interval day to hour",
    "interval hour to minute": "interval hour to minute",
    "interval minute to second": "interval minute to second",
    " ARRAY < LONG > ": "array<bigint>",
    "map<string,array<decimal(5)>>": "map<string,array<decimal(5,0)>>",
    "struct<>": "struct<>",
    "struct<long: integer, INT INT>": "struct<long:int,int:int>",
    "struct<a int NOT NULL, b: string COMMENT 'a: b, c>', c date NOT NULL COMMENT \"d\">": (
        "struct<a:int,b:string,c:date>"
    ),
    "struct<`a b`: int, `c,d` array<struct<`e``f`:char(2)>>>": (
        "struct<a b:int,c,d:array<struct<e`f:string>>>"
    ),
    "struct<a interval not null, b interval day to second comment 'x'>": (
        "struct<a:interval,b:interval day to second>"
    ),
}
"""Text -> the type in the form of Spark's schemas, in lower case."""

ACCEPTED_SINCE_SPARK_4 = {
    "variant": "variant",
    "string collate UTF8_LCASE": "string collate utf8_lcase",
    "struct<a string collate UNICODE NOT NULL, b variant>": "struct<a:string collate unicode,b:variant>",
}

REFUSED = {
    "strng": "'strng' is unknown: write 'string', or",
    "array<strng>": "'strng' is unknown: write 'string', or",
    "struct<a strng, b: int>": "'strng' is unknown",
    "str": "'str' is unknown: write 'string', or",
    "list<int>": "'list' is unknown: write 'array', or",
    "array<int": "'>' is missing at the end: write it as in Spark SQL,",
    "struct<a int": "'>' is missing at the end:",
    "map<string,int": "'>' is missing at the end:",
    "decimal(10": "')' is missing at the end:",
    "decimal(": "a number is missing after 'decimal(':",
    "decimal(a)": "a number is missing after 'decimal(':",
    "decimal(1,2,3)": "')' is missing before '3)':",
    "decimal(39,0)": "decimal(39,0) is not a type of Spark: the precision is 1 to 38,",
    "decimal(3,4)": "decimal(3,4) is not a type of Spark:",
    "array": "'<' is missing at the end:",
    "array(int)": "'<' is missing before '(int)':",
    "array<int>>": "'>' after the type is not understood:",
    "int not null": "'not null' after the type is not understood:",
    "map<int>": "',' is missing before '>':",
    "map<int,>": "'>' is not a type:",
    "struct<a:>": "'>' is not a type:",
    "struct<a int,>": "the field at '>' has no type:",
    "struct<int, b: int>": "the field at 'int, b: int>' has no type:",
    "struct<a int b int>": "'>' is missing before 'b int>':",
    "varchar": "varchar has no length: write 'varchar(10)' for example,",
    "interval month to year": "'interval month to year' is not a type of Spark: write",
    "interval year to second": "'interval year to second' is not a type of Spark:",
    "interval day to": "'interval day to ' is not a type of Spark:",
    "5": "'5' is not a type:",
}
"""Text -> the beginning of the sentence that says why, with the cure."""
