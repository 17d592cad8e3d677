"""OpenLineage objects of the lineage model, new ones on each call.

Airflow's OpenLineage provider redacts by assigning to their attributes, so nothing here is cached, shared
between two facets, or frozen. `datasets`, `jobs` and `runs` build facets; `events` builds complete events.
"""

from __future__ import annotations
