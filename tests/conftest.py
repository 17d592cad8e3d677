"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings
from servers.quick_java import quick_java

# The machines that run these tests are shared: a slow moment is no failure.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")

os.environ.setdefault("JAVA_TOOL_OPTIONS", quick_java())
