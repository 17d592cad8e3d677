"""One Spark session and one set of base tables for all proofs."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def prover(tmp_path_factory):
    import session
    import tables
    from prover import Prover

    folder = tmp_path_factory.mktemp("soundness")
    (folder / "tpch").mkdir()
    spark = session.start(folder)
    yield Prover(spark, folder, tables.hand_made(), tables.tpch(folder / "tpch"))
    spark.stop()
