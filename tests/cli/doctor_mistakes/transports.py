"""Mistakes in configurations of transports, planted."""

from __future__ import annotations

PLANTED = [
    ({"url": "http://marquez"}, "transport-type", ["names no `type`"]),
    (None, "transport-type", ["names no `type`"]),
    (
        {"type": "HTTP", "url": "http://127.0.0.1:1"},
        "transport-unknown",
        ["`HTTP`", "the client knows ", "http"],
    ),
    ({"type": "no.where.Transport"}, "transport-unknown", ["No module named 'no'", "correct its `type`"]),
    ({"type": "json.JSONDecoder"}, "transport-unknown", ["is not a subclass of Transport"]),
    (
        {"type": "msk-iam", "topic": "lineage", "region": "eu-west-1", "config": {}},
        "transport-unknown",
        [
            "`msk-iam` cannot be used (ImportError: it needs aws_msk_iam_sasl_signer)",
            "install the missing package",
        ],
    ),
    ({"type": "file"}, "transport-incomplete", ["`file` refuses its options", "`log_file_path`"]),
    ({"type": "http"}, "transport-incomplete", ["`http` refuses its options", "url"]),
    (
        {"type": "transform", "transformer_class": "a.B", "transport": {"type": "http"}},
        "transport-incomplete",
        ["`http` refuses its options"],
    ),
    ({"type": "composite", "transports": [{"type": "htp"}]}, "transport-unknown", ["`htp` cannot be used"]),
    ({"type": "http", "url": "marquez:5000"}, "transport-url", ["does not begin with a scheme and a host"]),
    ({"type": "http", "url": "http://marquez:5oo0"}, "transport-url", ["is not a valid address"]),
    (
        {"type": "http", "url": "http://u:hunter2@127.0.0.1:1/api/v1/lineage"},
        "transport-url",
        ["appends `/api/v1/lineage`", "remove it from http://127.0.0.1:1/api/v1/lineage"],
    ),
    ({"type": "noop"}, "transport-noop", ["discards every event"]),
    (
        {"type": "file", "log_file_path": "/no/events"},
        "transport-folder",
        ["cannot write its events: /no does not exist; correct that, or", "`log_file_path`"],
    ),
    (
        {"type": "file", "log_file_path": "file:///no/events", "append": True},
        "transport-folder",
        ["/no does not exist"],
    ),
    ({"type": "file", "log_file_path": f"{__file__}/events"}, "transport-folder", ["cannot be written"]),
    (
        {"type": "file", "log_file_path": "/proc", "append": True},
        "transport-folder",
        ["/proc cannot be written"],
    ),
    # Nobody may write there.
    (
        {"type": "file", "log_file_path": "/proc/sys/events"},
        "transport-folder",
        ["/proc/sys cannot be written"],
    ),
    (
        {"type": "http", "url": "http://u:hunter2@127.0.0.1:1"},
        "transport-silent",
        ["http://127.0.0.1:1 cannot be reached from here (127.0.0.1:1: Connection refused); start it"],
    ),
    (
        {
            "type": "composite",
            "transports": {
                "a": {"type": "transform", "transport": {"type": "http", "url": "http://127.0.0.1:1"}}
            },
        },
        "transport-silent",
        ["(127.0.0.1:1: Connection refused)"],
    ),
]
"""The configuration, the mistake in it, words of its advice."""

RIGHT = [
    {"type": "console"},
    {"type": "file", "log_file_path": f"{__file__}.events"},
    {"type": "file", "log_file_path": f"{__file__}.events", "append": True},
    {"type": "file", "log_file_path": "events/all.jsonl", "append": True},
    {"type": "file", "log_file_path": "s3://bucket/absent/events"},
    {"type": "composite", "transports": [{"type": "file", "log_file_path": "/tmp/events"}]},  # noqa: S108
]
"""Configurations without a mistake: beside a file, and where this process does not look."""
