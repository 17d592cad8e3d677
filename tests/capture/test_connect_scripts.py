"""SQL scripts of a Connect client: which statements certainly ran, and when each can be explained."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.capture.connect.actions import Action
from airflow_provider_spark_lineage.spark.capture.connect.parameters import with_variable
from airflow_provider_spark_lineage.spark.capture.connect.script_steps import MAX_STATEMENTS, steps_of
from airflow_provider_spark_lineage.spark.capture.connect.script_text import UnreadScriptError, read_script
from airflow_provider_spark_lineage.spark.capture.connect.server import RefusedError
from airflow_provider_spark_lineage.spark.capture.connect.session import ConnectSession


class Command:
    """A command of Spark Connect as Spark 3.5 has it: its text alone."""

    class DESCRIPTOR:
        fields_by_name = ()

    def __init__(self, sql=""):
        self.sql = sql

    def CopyFrom(self, other):  # noqa: N802  protobuf's name
        self.sql = other.sql


def pieces(text):
    return [(piece.text, piece.line, piece.is_certain) for piece in read_script(text).pieces]


def read(body):
    """Return the texts that are explained for a script, each with its moment; then the gaps."""
    steps, gaps = steps_of(read_script(f"BEGIN {body} END"), Command())
    return [f"{step.when.name.lower()} {getattr(step.action.statement, 'sql', '')}" for step in steps] + gaps


def test_statements_below_a_condition_may_not_have_run():
    """The condition itself is certain, as is what follows the block."""
    text = """BEGIN
      -- INSERT INTO nowhere;
      IF CASE WHEN (SELECT max(a) FROM s) > 0 THEN true END THEN
        INSERT INTO t SELECT CASE WHEN a THEN ';END' END FROM s;
      ELSEIF x THEN DELETE FROM t;
      ELSE FOR r AS SELECT a FROM s DO DELETE FROM `odd;END`; END FOR;
      END IF;
      CASE x WHEN 1 THEN DELETE FROM c; END CASE;
      REPEAT DELETE FROM r; UNTIL y END REPEAT;
      (SELECT 1);
    END;"""
    assert pieces(text) == [
        ("SELECT CASE WHEN (SELECT max(a) FROM s) > 0 THEN true END", 3, True),
        ("INSERT INTO t SELECT CASE WHEN a THEN ';END' END FROM s", 4, False),
        ("DELETE FROM t", 5, False),
        ("SELECT a FROM s", 6, False),
        ("DELETE FROM `odd;END`", 6, False),
        ("DELETE FROM c", 8, False),
        ("DELETE FROM r", 9, False),
        ("(SELECT 1)", 10, True),
    ]


def test_statements_after_leave_in_its_block_may_not_have_run():
    """LEAVE ends the block of its label; after that block all run again."""
    text = "BEGIN a: BEGIN w: WHILE x DO LEAVE a; END WHILE w; DROP TABLE t; END a; DROP TABLE u; END"
    assert pieces(text) == [("DROP TABLE t", 1, False), ("DROP TABLE u", 1, True)]


def test_variables_have_types_and_may_come_from_queries():
    script = read_script(
        "BEGIN DECLARE a, b INT DEFAULT 5; DECLARE c = 1; SET b = (SELECT 1); SET c = b; END"
    )
    assert script.variables == {"a": "INT", "b": "INT", "c": ""}
    assert script.queried == {"b", "c"}
    assert [piece.text for piece in script.pieces] == ["SELECT (SELECT 1)"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "BEGIN",
        "SELECT 1",
        "BEGIN SELECT 1 END",
        "BEGIN SELECT 1; END; SELECT 2",
        "BEGIN IF a THEN SELECT 1; END; END",
        "BEGIN ELSE END",
        "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN SELECT 1; END; END",
        "BEGIN DECLARE c CURSOR FOR SELECT 1; END",
        "BEGIN OPEN c; END",
    ],
)
def test_a_script_that_is_not_understood_is_not_read(text):
    """Also one that handles errors: which statements ran before an error is not known."""
    with pytest.raises(UnreadScriptError):
        read_script(text)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "INSERT INTO t SELECT a FROM s; SELECT b FROM s;",
            ["beside INSERT INTO t SELECT a FROM s", "beside SELECT b FROM s"],
        ),
        # The table is there after the script, or before it.
        (
            "CREATE TABLE t AS SELECT a FROM s; INSERT INTO u SELECT a FROM t;",
            ["beside SELECT a FROM s", "after INSERT INTO u SELECT a FROM t"],
        ),
        (
            "INSERT INTO u SELECT a FROM s; DROP TABLE s;",
            ["before INSERT INTO u SELECT a FROM s", "before DROP TABLE s"],
        ),
        ("USE d; INSERT INTO t SELECT a FROM s;", ["after INSERT INTO t SELECT a FROM s"]),
        # Or neither before nor after: its query is put in its place.
        (
            "CREATE TABLE x AS SELECT a FROM s; CREATE TEMP VIEW v AS SELECT a FROM x; "
            "INSERT INTO t WITH q AS (SELECT a FROM v) SELECT a FROM q; DROP TABLE x;",
            [
                "beside SELECT a FROM s",
                "beside WITH `x` AS (SELECT a FROM s), `v` AS (SELECT a FROM x) "
                "INSERT INTO t WITH q AS (SELECT a FROM v) SELECT a FROM q",
            ],
        ),
    ],
)
def test_a_statement_is_explained_when_its_names_mean_what_they_meant(body, expected):
    """Before the script, after it, or at any time: beside it."""
    assert read(body) == expected


_UNCLEAR = "statements of the SQL script are not recorded, because other statements change their tables: "


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "IF x THEN INSERT INTO t SELECT a FROM s; END IF;",
            ["statements of the SQL script may not have run, and are not recorded: INSERT t (line 1)"],
        ),
        (
            "EXECUTE IMMEDIATE 'DROP TABLE t';",
            ["statements of the SQL script are not recorded, because they run texts: EXECUTE (line 1)"],
        ),
        # What it writes is another table, or gone, afterwards.
        (
            "INSERT INTO t SELECT a FROM s; ALTER TABLE t RENAME TO u;",
            [
                "before ALTER TABLE t RENAME TO u",
                _UNCLEAR + "INSERT t (line 1)",
            ],
        ),
        # An unknown table of the same name was there before: its effect is unclear.
        (
            "DROP TABLE t; CREATE TABLE t (a INT); INSERT INTO t SELECT a FROM s; TABLE t; DROP TABLE t;",
            [
                "before DROP TABLE t",
                _UNCLEAR + "CREATE t (line 1), INSERT t (line 1), TABLE (line 1), DROP t (line 1)",
            ],
        ),
        # WITH defines no name with a database.
        (
            "CREATE TABLE x AS SELECT a FROM s; INSERT INTO t SELECT a FROM d.x; DROP TABLE x;",
            [
                "beside SELECT a FROM s",
                "beside ",
                _UNCLEAR + "INSERT t (line 1)",
            ],
        ),
        # It may have replaced a table that was there.
        (
            "CREATE OR REPLACE TABLE x AS SELECT a FROM s; DROP TABLE x;",
            [
                "beside SELECT a FROM s",
                _UNCLEAR + "DROP x (line 1)",
            ],
        ),
        # What is below a condition may have dropped it.
        (
            "IF c THEN DROP TABLE s; END IF; INSERT INTO t SELECT a FROM s;",
            [
                "after INSERT INTO t SELECT a FROM s",
                "statements of the SQL script may not have run, and are not recorded: DROP s (line 1)",
            ],
        ),
    ],
)
def test_uncertain_names_are_in_a_gap(body, expected):
    """Never a false edge: a statement without a moment is explained at none."""
    assert read(body) == expected


def test_a_long_script_asks_for_its_first_statements_alone():
    statements = read("INSERT INTO t SELECT a FROM s;" * (MAX_STATEMENTS + 12))
    assert len(statements) == MAX_STATEMENTS + 1
    assert statements[-1].startswith(
        "only the first statements of the long SQL script are recorded, without: INSERT t (line 1)"
    )
    assert statements[-1].endswith("and 2 more")


def test_variables_are_replaced_by_values_where_they_are_alone():
    """Not in quotes, nor as a piece of a name, nor as a function."""
    command = Command("SELECT cut, t.cut, `cut`, 'cut', cut(1), :cut FROM cut.t WHERE a > cut LIMIT Cut")
    assert with_variable(command, "cut", "DATE").sql == (
        "SELECT CAST(NULL AS DATE), t.cut, `cut`, 'cut', cut(1), :cut FROM cut.t "
        "WHERE a > CAST(NULL AS DATE) LIMIT CAST(NULL AS DATE)"
    )
    assert with_variable(Command("LIMIT cut"), "cut", "INT").sql == "LIMIT 1"
    assert with_variable(Command("LIMIT cut"), "cut", "").sql == "LIMIT NULL"


class Server:
    """A server that gives one answer after the other, and keeps the requests."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def rows(self, relation, seconds):
        self.asked.append(relation.sql.query)
        return [{"plan": self.answers.pop(0)}]


ANALYZED = "== Analyzed Logical Plan ==\n"
PLAN = ANALYZED + "Project [a#1]\n+- Relation [a#1] parquet"
UNRESOLVED = (
    ANALYZED + "org.apache.spark.sql.AnalysisException: [UNRESOLVED_COLUMN] A column, variable, or function "
    "parameter with name `{}` cannot be resolved."
)


def explained(server, text):
    """Return the plan of a statement of a script, and the gaps, from the answers of a server."""
    pb2 = pytest.importorskip("pyspark.sql.connect.proto")
    command = pb2.SqlCommand()
    command.input.sql.query = text
    action = Action(
        "command", sql=text, statement=command, variables={"cut": "INT", "top": "DATE"}, queried={"top"}
    )
    problems = []
    session = ConnectSession(
        None, max_plan_bytes=10_000, sql_text="full", emit=print, describe=print, problems=[]
    )
    return session.explained(server, action, problems), problems


def test_only_a_name_unknown_to_the_analyzer_is_a_variable():
    """A name that is a column stays; each request names one variable more."""
    server = Server(UNRESOLVED.format("cut"), UNRESOLVED.format("TOP"), PLAN)
    plan, problems = explained(server, "SELECT a FROM t WHERE a > cut AND b < top")
    assert plan == PLAN
    assert server.asked[-1] == "EXPLAIN EXTENDED SELECT a FROM t WHERE a > 1 AND b < CAST(NULL AS DATE)"
    assert problems == ["the origin of the variable `top` of the SQL script is not recorded"]


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([UNRESOLVED.format("other")], "`other` cannot be resolved"),
        ([UNRESOLVED.format("cut"), UNRESOLVED.format("cut")], "`cut` cannot be resolved"),
        ([UNRESOLVED.format("cut"), PLAN.replace("[a#1]", "[a#1,cut#2]")], "and a column"),
        ([PLAN + "variablereference(system.session.cut=1)"], "session and script both have a variable `cut`"),
    ],
)
def test_a_statement_whose_names_are_not_clear_has_no_plan(answers, why):
    """A name may be a variable in one place and a column in another; a session may have its own variable."""
    with pytest.raises(RefusedError, match=why):
        explained(Server(*answers), "SELECT a FROM t WHERE a > cut")
