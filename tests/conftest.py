"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# The machines that run these tests are shared: a slow moment is no failure.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")
