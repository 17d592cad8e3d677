"""The folder of capture's compiled classes: its files run in the user's jobs."""

from __future__ import annotations

import os
import pwd

from airflow_provider_spark_lineage.spark.capture.jvm.classes import cache_folder


def test_the_folder_belongs_to_the_user_alone(tmp_path, monkeypatch):
    """It is made in the cache of the user; one that others may write to is not used."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = cache_folder()
    assert folder is not None
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert cache_folder() is None


def test_without_a_cache_there_is_no_folder(tmp_path, monkeypatch):
    """A home that cannot be written changes nothing but the speed."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache_folder() is None


def test_a_folder_of_somebody_else_is_not_used(tmp_path, monkeypatch):
    """Its owner could write to it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() is not None
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert cache_folder() is None


def test_a_user_without_a_home_has_no_folder(tmp_path, monkeypatch):
    """In containers a user may be a number alone: `~` must not become a folder of the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    assert cache_folder() is None
    assert list(tmp_path.iterdir()) == []
