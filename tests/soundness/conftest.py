"""One Spark session and one set of base tables for the proofs of a module."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def prover(tmp_path_factory):
    from prover import proving

    with proving(tmp_path_factory.mktemp("soundness")) as prover:
        yield prover


@pytest.fixture(scope="module")
def prover_on_lakes(tmp_path_factory):
    from prover import proving
    from spark_packages import need

    need("delta", "iceberg")
    with proving(tmp_path_factory.mktemp("lakes"), lakes=True) as prover:
        yield prover
