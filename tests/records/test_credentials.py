"""Credentials are masked wherever they are written down, and nothing else is."""

from __future__ import annotations

import re
import time

import pytest
import sql_secrets
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_spark_lineage.spark.records.credentials import (
    CREDENTIAL_HINT,
    FLAGS,
    REMOVED,
    RULES,
    Rule,
    without_secrets,
)

SECRET = "hunter2"  # noqa: S105  planted
KEEPS_NO_SECRET = [
    "jdbc:postgresql://db:5432/sales?user=etl&password=hunter2",
    "jdbc:postgresql://etl:hunter2@db:5432/sales",
    "jdbc:sqlserver://db;user=etl;password=hunter2;encrypt=true",
    "jdbc:oracle:thin:scott/hunter2@//db:1521/orcl",
    "postgres://etl:hunter2@ss@db/sales",
    "redis://:hunter2@cache:6379/0",
    "mongodb+srv://etl:hunter2@a.b.c/db",
    "https://etl:hunter2@host/path?x=1",
    "s3a://ACCESS:hunter2@bucket/key",
    "options(password='hunter2', user='etl')",
    'password="hunter2, and more hunter2"',
    "s3a://key:ab/hunter2@bucket/orders",
    "password='it''s hunter2'",
    r'{"password":"say \"hunter2\"","x":1}',
    r'"{\"password\":\"hunter2\"}"',
    "OPTIONS (url 'jdbc:x', `password` 'hunter2', dbtable 't')",
    'OPTIONS (password "hunter2")',
    "PASSWORD = hunter2",
    "Password:hunter2",
    "pwd=hunter2",
    "pw=hunter2",
    "pw = 'hunter2, \u00fc'",
    "jdbc:sqlserver://db;user=etl;password={hun;ter2}};hunter2};encrypt=true",
    "pass: hunter2",
    "db.passphrase = 'hunter2'",
    "Map(user -> etl, password -> hunter2, dbtable -> t)",
    "fs.s3a.secret.key -> hunter2",
    "fs.s3a.access.key=hunter2",
    "spark.hadoop.fs.s3a.session.token=hunter2",
    "fs.azure.account.key.acct.dfs.core.windows.net hunter2".replace(" hunter2", "=hunter2"),
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=hunter2==;EndpointSuffix=x",
    "https://a.blob.core.windows.net/c?sv=2022&sig=hunter2%3D&se=1",
    "https://b.s3.amazonaws.com/k?X-Amz-Signature=hunter2&X-Amz-Date=1",
    'sasl.jaas.config=PlainLoginModule required username="u" password="hunter2";',
    "Authorization: Bearer hunter2.x.y",
    "Authorization: Basic hunter2",
    '{"authorization": "Bearer hunter2"}',
    "client_secret=hunter2",
    "api-key: hunter2",
    "aws_secret_access_key = hunter2",
    "SET spark.my.password=hunter2",
    "select aes_encrypt(card, 'hunter2') from t",
    "create user etl identified by 'hunter2'",
    "create user etl identified by hunter2",
    'alter user etl identified by"hunter2"',
    "create user etl identified with mysql_native_password by 'hunter2'",
    "grant connect to etl identified by hunter2",
    "select try_aes_decrypt(unbase64(card), 'hunter2', 'GCM') from t",
    "aes_encrypt(card, hunter2, GCM, DEFAULT, , )",
    "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nhunter2",
]
WHOLE_SECRETS = [
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ASIA" + "IOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
    "ghp_" + "0123456789abcdefghij0123456789abcdef",
    "xoxb-" + "0123456789-abcdefghijkl",
    "dapi" + "0123456789abcdef" * 2,
    "sk-proj-" + "a1b2c3d4e5f6g7h8i9j0k1l2",
    "glpat-" + "abcdefghij0123456789",
]
UNTOUCHED = [
    "",
    "a@b.com",
    "mail to a.b@example.org, or ask",
    "token",
    "struct<token:string,password:array<int>,id:int>",
    "`token` STRING, `secret` BINARY",
    '{"name":"token","type":"string","nullable":true,"metadata":{}}',
    '{"type":"struct","fields":[{"name":"password","type":"string"},{"name":"api_key","type":"long"}]}',
    '{"password":null,"token":true}',
    "select token, password as secret from t where token is not null order by api_key",
    "select * from a join b on a.token = b.token and a.id = b.id",
    "select t.token::string from t",
    "select count(distinct token) from secrets where password in (select password from p)",
    "file:/data/secrets/token/part-0.parquet",
    "s3a://bucket/secret/key/date=2026-01-01",
    "s3a://bucket/at=10:30/user@host",
    "abfss://container@account.dfs.core.windows.net/lake/orders",
    "hdfs://namenode:8020/lake/orders",
    "jdbc:postgresql://db:5432/sales",
    "http://host:8080/a, kafka-1:9092",
    "/models/sk-learn-experiments-of-2024/features",
    "asiapacificcustomers",
    "dapi_customer_accounts_table",
    "the bearer of this certificate",
    "author: somebody",
    "`spark_catalog`.`default`.`tokens`",
    "Relation [token#1,password#2] parquet",
    "(token#12 = token#15)",
    "2026-01-01T00:00:00.000Z INFO Task: done",
    "(the token's value is wrong, as I'm told)",
    "(token's value is wrong)",
    "the token (5 of 8) is unexpected",
    "select token in('a','b'), password as (select 'x') from t",
    "create table t (token decimal(10,2), password varchar(20) comment 'c', x string)",
    "select a from t where name = 'my password' and x = 'y'",
    "with secrets (a) as (select 'x'), tokens as (select 'b'), token (c) as (select 'd') select 1",
    "insert into t (password, x) values ('a', 1)",
    "select f(token, 'x'), t.token -1 from t",
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
class TestRule:
    """Each rule of the table, by itself and among the others."""

    def test_masks_the_secret_of_its_example(self, rule: Rule) -> None:
        """Text outside of the group `secret` stays."""
        assert without_secrets(rule.example) == rule.masked
        match = re.search(rule.pattern, rule.example, FLAGS)
        assert match
        start, end = match.span("secret")
        assert rule.example[:start] + REMOVED + rule.example[end:] == rule.masked

    def test_leaves_its_near_miss_as_it_is(self, rule: Rule) -> None:
        """Neither this rule nor another takes it for a secret."""
        assert not re.search(rule.pattern, rule.near_miss, FLAGS)
        assert without_secrets(rule.near_miss) == rule.near_miss

    def test_has_a_hint_in_its_example(self, rule: Rule) -> None:
        """A text without a hint is not searched, in Python and in Java."""
        assert any(hint in rule.example.lower() for hint in rule.hints)
        assert re.search(CREDENTIAL_HINT, rule.example)


@pytest.mark.parametrize("text", KEEPS_NO_SECRET)
def test_a_secret_is_removed_and_its_name_stays(text):
    """A value marked as secret by its name or by a URL is removed, in any notation."""
    clean = without_secrets(text)
    assert SECRET not in clean
    assert REMOVED in clean


@pytest.mark.parametrize("secret", WHOLE_SECRETS)
@pytest.mark.parametrize("around", ["{}", "key {} end", "'{}'", "/path/{}/x", "Bearer {}"])
def test_a_secret_that_shows_by_its_form_is_removed(secret, around):
    """Keys and tokens of known forms go without a name beside them."""
    assert secret not in without_secrets(around.format(secret))


@pytest.mark.parametrize("text", UNTOUCHED)
def test_a_text_without_secrets_is_untouched(text):
    """Column names, types, paths and SQL are needed for lineage."""
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("user=etl&password=hunter2&ssl=true", "user=etl&password=***&ssl=true"),
        ("https://etl:hunter2@host/path", "https://***@host/path"),
        ("OPTIONS (password 'hunter2', dbtable 't')", "OPTIONS (password '***', dbtable 't')"),
        ('{"token": "hunter2", "x": 1}', '{"token": "***", "x": 1}'),
        ("Authorization: Bearer hunter2", "Authorization: Bearer ***"),
        ("Map(secret -> hunter2, a -> b)", "Map(secret -> ***, a -> b)"),
    ],
)
def test_only_the_secret_is_removed(text, clean):
    """The text around a secret stays as it was."""
    assert without_secrets(text) == clean


@pytest.mark.parametrize("place", sql_secrets.PLACES)
@pytest.mark.parametrize("value", sql_secrets.VALUES)
def test_a_secret_is_removed_in_every_form_that_sql_has_for_a_value(value, place):
    """Raw and adjacent literals, hex, numbers, dollar quotes, expressions, with comments before them."""
    clean = without_secrets(f"create table t using csv {place.format(value)} as select 'x' a, 5 b")
    assert sql_secrets.is_hidden(clean)
    assert REMOVED in clean
    assert "url 'shown'" in clean
    assert clean.startswith("create table t using csv options (")
    assert clean.endswith(") as select 'x' a, 5 b")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("options (password'hunter2', a 'b')", "options (password'***', a 'b')"),
        ("options (`password`'hunter2', a 'b')", "options (`password`'***', a 'b')"),
        ("options (password r'\\', a 'b')", "options (password '***', a 'b')"),
        ("options (password '', a 'b')", "options (password '***', a 'b')"),
        ("options (password 'hunt", "options (password '***"),
        ("options (password r'hunt", "options (password '***'"),
        ("options (password f('hunt", "options (password '***'"),
        ("options (password /* hunt", "options (password /* hunt"),
        ("select password = 'a' || b, 'c'", "select password = '***', 'c'"),
        (
            "execute immediate 'set x = f(password = ''hunter2'')'",
            "execute immediate 'set x = f(password = '***')'",
        ),
        ('{"sql": "options (password r\\"hunter2\\", a 5)"}', '{"sql": "options (password \'***\', a 5)"}'),
        ("password=abc 'file'", "password=*** 'file'"),
    ],
)
def test_a_value_ends_where_spark_ends_it(text, clean):
    """The text behind a value stays; a text that is cut inside a value loses its rest."""
    assert without_secrets(text) == clean


_pieces = st.one_of(
    st.text(max_size=12),
    st.sampled_from([*KEEPS_NO_SECRET, *WHOLE_SECRETS, *UNTOUCHED]),
    st.sampled_from(
        [
            "password",
            "token",
            "=",
            ":",
            " -> ",
            "'",
            '"',
            "\\",
            "`",
            "//",
            "@",
            "(",
            ")",
            "sig",
            " ",
            "\n",
            "r'",
            "$$",
            "/*",
            "--",
            "||",
            "case",
            ")",
            "5",
            ".",
            ",",
        ]
    ),
)


@settings(max_examples=600, deadline=None)
@given(st.lists(_pieces, max_size=8).map("".join))
def test_removing_secrets_never_raises_and_is_done_once(text):
    """Any text goes through, and a clean text stays as it is."""
    clean = without_secrets(text)
    assert without_secrets(clean) == clean


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000 + "@",
        "a." * 150_000 + "@",
        "token" * 3_000,
        "://a:" * 20_000 + "@",
        "aes_encrypt(" * 5_000,
        "a_" * 30_000 + "@",
        "a-" * 30_000 + "pass@",
        "password=a." + "token" * 3_000 + "!",
        "password=" + "a." * 15_000 + "!",
        "token" + " " * 50_000 + "x@",
        "s3://a:" * 10_000,
        "bearer " * 10_000,
        "password /* " * 30_000,
        "password -- " * 30_000,
        "/* */ token " * 30_000,
        "password=f(" * 30_000,
        "(password=f(" * 20_000 + ")" * 40_000,
        "token = a || " * 30_000,
        "token = `" * 30_001,
        "password '\\" * 30_001,
        "token " + "'a' " * 30_000,
    ],
)
def test_removing_secrets_takes_time_in_proportion_to_the_text(text):
    """A text made to be slow for a pattern costs a second at most, not a job."""
    began = time.process_time()
    without_secrets(text)
    assert time.process_time() - began < 5
