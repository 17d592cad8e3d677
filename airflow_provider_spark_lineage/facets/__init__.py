"""The lineage model written down as OpenLineage objects, built fresh on every call.

Airflow's OpenLineage provider redacts by assigning into these objects, so nothing here is cached,
shared between two facets, or frozen. `datasets`, `jobs` and `runs` build facets; `events` puts them
into complete events.
"""

from __future__ import annotations
