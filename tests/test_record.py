"""The record on disk: written whole or not at all, read with a sentence for each cause, without a secret."""

from __future__ import annotations

import dataclasses
import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_spark_lineage import record as record_module
from airflow_provider_spark_lineage.record import (
    FORMAT,
    SUFFIX,
    VERSION,
    Record,
    RecordError,
    read_record,
    read_records,
    record_paths,
    without_secrets,
    write_record,
)


def a_record(number: int = 1, **changes: object) -> Record:
    record = Record(
        application_id="local-1",
        application_name="orders of the day",
        spark_version="4.1.4",
        agent_version="0.1.0",
        number=number,
        name="command",
        started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T00:00:01.5+00:00",
        outcome="success",
        sql="select 'ünï\U0001f600'",
        plan=[{"class": "Project", "num-children": 0}],
        facts=[{"node": "LogicalRelation", "expr_id": 3, "probed": {"paths": ["file:/in"]}}],
        metrics=[{"node": "Scan parquet", "rows": 3}],
        problems=["nothing to speak of"],
    )
    return dataclasses.replace(record, **changes)


def as_json(**changes: object) -> bytes:
    return json.dumps({**a_record().to_json(), **changes}).encode()


def test_record_survives_the_disk(tmp_path):
    """What is read is what was written, texts of any language included."""
    record = a_record(error={"class": "E", "message": "m", "sql_state": "22012"}, outcome="failure")
    assert read_record(write_record(tmp_path, record)) == record


def test_unknown_fields_are_left_out_and_optional_fields_have_defaults():
    """A record may gain fields within its version, and lack those that have defaults."""
    value = {**a_record().to_json(), "new_field": 1}
    del value["sql"], value["error"], value["metrics"]
    assert Record.from_json(value) == a_record(sql="", metrics=[])


def test_a_reader_sees_a_whole_record_or_none(tmp_path, monkeypatch):
    """A driver killed while it writes leaves no record that is half there, and all earlier ones."""
    first = write_record(tmp_path, a_record(1))
    seen = []
    replace = record_module.os.replace

    def killed_before_rename(source, target):
        seen.append(source)
        raise KeyboardInterrupt

    monkeypatch.setattr(record_module.os, "replace", killed_before_rename)
    with pytest.raises(KeyboardInterrupt):
        write_record(tmp_path, a_record(2))
    assert seen[0].exists()
    assert record_paths(tmp_path) == [first]
    monkeypatch.setattr(record_module.os, "replace", replace)
    assert len(record_paths(write_record(tmp_path, a_record(2)).parent)) == 2


def test_a_write_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    """A full disk is not filled further with what could not be finished."""

    def disk_full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record_module.os, "replace", disk_full)
    with pytest.raises(OSError, match="No space left"):
        write_record(tmp_path, a_record())
    assert list(tmp_path.iterdir()) == []


def test_executions_are_read_in_the_order_in_which_they_ended(tmp_path):
    """Applications stay together, and the millionth execution comes after the second."""
    for number in (1_000_000, 2, 10):
        write_record(tmp_path, a_record(number))
    write_record(tmp_path, a_record(1, application_id="local-2"))
    read = list(read_records(record_paths(tmp_path), []))
    assert [(r.application_id, r.number) for r in read] == [
        ("local-1", 2),
        ("local-1", 10),
        ("local-1", 1_000_000),
        ("local-2", 1),
    ]


@pytest.mark.parametrize("application_id", ["application_1700000000000_0001", "spark-abc", "a/b:c d", "ü"])
def test_any_application_id_makes_a_file_name(tmp_path, application_id):
    """Cluster managers invent ids; none of them leads out of the folder."""
    path = write_record(tmp_path, a_record(application_id=application_id))
    assert path.parent == tmp_path
    assert record_paths(tmp_path) == [path]


BAD = {
    "empty": (b"", "truncated"),
    "truncated": (gzip.compress(as_json())[:-40], "truncated"),
    "damaged": (gzip.compress(as_json())[:30] + b"\0" * 30 + gzip.compress(as_json())[60:], "damaged"),
    "not gzip": (as_json(), "not a record"),
    "not JSON": (gzip.compress(b"orders,3"), "not a record"),
    "not UTF-8": (gzip.compress(b"\xff\xfe{}"), "not a record"),
    "number of too many digits": (gzip.compress(b"[" + b"1" * 5000 + b"]"), "not a record"),
    "foreign JSON": (gzip.compress(b'{"eventType": "START"}'), "not a spark-lineage record"),
    "list": (gzip.compress(b"[1]"), "not a spark-lineage record"),
    "later version": (gzip.compress(as_json(version=99)), "record version 99, .* reads version 1"),
    "no version": (gzip.compress(as_json(version=None)), "record version None"),
    "lacking fields": (
        gzip.compress(json.dumps({"format": FORMAT, "version": VERSION}).encode()),
        "lacks fields",
    ),
    "wrong number": (gzip.compress(as_json(number="one")), "'number'"),
    "wrong time": (gzip.compress(as_json(started_at="yesterday")), "'started_at'"),
    "time without zone": (gzip.compress(as_json(ended_at="2026-01-01T00:00:00")), "'ended_at'"),
    "wrong outcome": (gzip.compress(as_json(outcome="perhaps")), "'outcome'"),
    "facts of strings": (gzip.compress(as_json(facts=["a"])), "'facts'"),
    "plan of numbers": (gzip.compress(as_json(plan=[1])), "'plan'"),
    "error as text": (gzip.compress(as_json(error="boom")), "'error'"),
    "problems of objects": (gzip.compress(as_json(problems=[{}])), "'problems'"),
    "deeply nested": (gzip.compress(b"[" * 200_000), "nested too deeply"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_record_is_told_in_one_sentence_with_file_and_cause(tmp_path, case):
    """Whatever lies there, the reader names the file and the cause, in one line, as a RecordError."""
    content, cause = BAD[case]
    path = tmp_path / ("bad" + SUFFIX)
    path.write_bytes(content)
    with pytest.raises(RecordError, match=cause) as caught:
        read_record(path)
    assert str(caught.value).startswith(f"{path} ")
    assert "\n" not in str(caught.value)


def test_readable_records_are_used_beside_bad_ones(tmp_path):
    """One torn file costs its own execution and nothing else."""
    for number in (1, 2, 3):
        write_record(tmp_path, a_record(number))
    torn = record_paths(tmp_path)[1]
    torn.write_bytes(torn.read_bytes()[:20])
    problems: list[str] = []
    assert [r.number for r in read_records(record_paths(tmp_path), problems)] == [1, 3]
    assert len(problems) == 1
    assert str(torn) in problems[0]


def test_a_folder_without_records_is_told(tmp_path):
    """No folder, a folder with nothing, and a folder where a record should be: a sentence each."""
    with pytest.raises(RecordError, match=r"nowhere does not exist"):
        record_paths(tmp_path / "nowhere")
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(RecordError, match=r"holds no records"):
        record_paths(tmp_path)
    with pytest.raises(RecordError, match=r"gone\S* does not exist"):
        read_record(tmp_path / "gone")
    with pytest.raises(RecordError, match=r"cannot be read: Is a directory"):
        read_record(tmp_path)


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
]


@pytest.mark.parametrize("text", KEEPS_NO_SECRET)
def test_a_secret_is_removed_and_its_name_stays(text):
    """What a name or a URL marks as secret goes, wherever it is written down."""
    clean = without_secrets(text)
    assert SECRET not in clean
    assert record_module.REMOVED in clean


@pytest.mark.parametrize("secret", WHOLE_SECRETS)
@pytest.mark.parametrize("around", ["{}", "key {} end", "'{}'", "/path/{}/x", "Bearer {}"])
def test_a_secret_that_shows_by_its_form_is_removed(secret, around):
    """Keys and tokens of known forms go without a name beside them."""
    assert secret not in without_secrets(around.format(secret))


@pytest.mark.parametrize("text", UNTOUCHED)
def test_a_text_without_secrets_is_untouched(text):
    """Column names, types, paths and SQL are what lineage is made of."""
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
            ".",
            ",",
        ]
    ),
)


@settings(max_examples=600, deadline=None)
@given(st.lists(_pieces, max_size=8).map("".join))
def test_removing_secrets_never_raises_and_is_done_once(text):
    """Any text goes through, and what is clean stays as it is."""
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
    ],
)
def test_removing_secrets_takes_time_in_proportion_to_the_text(text):
    """A text made to be slow for a pattern costs a second at most, not a job."""
    import time

    began = time.process_time()
    without_secrets(text)
    assert time.process_time() - began < 5
