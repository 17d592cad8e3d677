"""Partial folds: the contribution of each date to the tables without dates.

A load computes the partials of the dates that it writes. Those of a month that is over are folded into one,
and the tables are folded from these, so that a load does not read the rows of all dates. What `retain` drops
leaves its partial behind. All rules commute and may be repeated, so partials can be folded again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

PARTIALS = "partials"
"""Name of the partials among the tables of a snapshot."""

DROPPED = "gone"
"""Key of the partials of rows that were dropped, in place of a date."""

_TIME, _PLACE = "TIMESTAMP", "STRUCT<time_ns: DECIMAL(21,0), id: STRING>"

_MONTH = len("2026-01")

_RULES = {
    "key": "`{0}`",
    "first": "min(`{0}`)",
    "last": "max(`{0}`)",
    "latest": "max_by(`{0}`, place)",
    "all": "array_sort(array_distinct(flatten(collect_list(`{0}`))))",
}


@dataclass(frozen=True)
class Partial:
    """A kind of partials."""

    rows: str
    """Query for its rows, one for each row of a table with dates; `day` is their date."""
    columns: tuple[tuple[str, str, str], ...]
    """Name, type and rule of each column."""
    condition: str = "true"
    """Condition on the rows of a day or month that can matter beside those of others."""

    @property
    def type(self) -> str:
        """The columns as a type of Spark SQL."""
        return f"STRUCT<{', '.join(f'`{name}`: {kind}' for name, kind, _ in self.columns)}>"

    def folded(self, rows: str, *over: str) -> str:
        """Return a query for one row for each key, and for each value of the columns `over`."""
        keys = [*over, *(f"`{name}`" for name, _, rule in self.columns if rule == "key")]
        chosen = [*over, *(f"{_RULES[rule].format(name)} AS `{name}`" for name, _, rule in self.columns)]
        return f"SELECT {', '.join(chosen)} FROM ({rows}) GROUP BY {', '.join(keys)}"  # noqa: S608


_SEEN = (("first_seen", _TIME, "first"), ("last_seen", _TIME, "last"))

KINDS: Mapping[str, Partial] = {
    "schemas": Partial(
        """
        SELECT event_date AS day, dataset_id, schema_id, event_time AS first_seen, event_time AS last_seen
        FROM {run_inputs} WHERE schema_id IS NOT NULL
        UNION ALL
        SELECT event_date, dataset_id, schema_id, event_time, event_time
        FROM {run_outputs} WHERE schema_id IS NOT NULL
        """,
        (("dataset_id", "BIGINT", "key"), ("schema_id", "BIGINT", "key"), *_SEEN),
    ),
    "versions": Partial(
        """
        SELECT event_date AS day, lineage_id, event_time AS first_seen, event_time AS last_seen,
               struct(event_time, run_id) AS place
        FROM {run_outputs}
        """,
        (
            ("lineage_id", "BIGINT", "key"),
            *_SEEN,
            ("place", "STRUCT<event_time: TIMESTAMP, run_id: STRING>", "last"),
        ),
    ),
    "jobs": Partial(
        """
        SELECT event_date AS day, job_id, job_namespace, job_name, event_time AS first_seen,
               event_time AS last_seen, run_id, state, group_id, is_instance, event_date AS run_date,
               struct(time_ns, last_event_id AS id) AS place
        FROM {runs} WHERE is_counted
        """,
        (
            ("job_id", "BIGINT", "key"),
            ("job_namespace", "STRING", "latest"),
            ("job_name", "STRING", "latest"),
            *_SEEN,
            ("run_id", "STRING", "latest"),
            ("state", "STRING", "latest"),
            ("group_id", "STRING", "latest"),
            ("is_instance", "BOOLEAN", "latest"),
            ("run_date", "DATE", "latest"),
            ("place", _PLACE, "last"),
        ),
    ),
    "datasets": Partial(
        """
        SELECT event_date AS day, dataset_id, event_time AS first_seen, event_time AS last_written_at,
               CAST(NULL AS TIMESTAMP) AS last_read_at, job_id AS last_writer, lifecycle AS last_change,
               struct(event_time, run_id) AS place
        FROM {run_outputs}
        UNION ALL
        SELECT event_date, dataset_id, event_time, NULL, event_time, NULL, NULL, NULL FROM {run_inputs}
        """,
        (
            ("dataset_id", "BIGINT", "key"),
            ("first_seen", _TIME, "first"),
            ("last_written_at", _TIME, "last"),
            ("last_read_at", _TIME, "last"),
            ("last_writer", "BIGINT", "latest"),
            ("last_change", "STRING", "latest"),
            ("place", "STRUCT<event_time: TIMESTAMP, run_id: STRING>", "last"),
        ),
    ),
    "writes": Partial(
        """
        SELECT r.event_date AS day, r.job_id, dataset_id, group_id, is_instance, r.event_date AS run_date,
               struct(time_ns, last_event_id AS id) AS place
        FROM {runs} r JOIN {run_outputs} USING (run_id) WHERE is_counted
        """,
        (
            ("job_id", "BIGINT", "key"),
            ("dataset_id", "BIGINT", "key"),
            ("group_id", "STRING", "latest"),
            ("is_instance", "BOOLEAN", "latest"),
            ("run_date", "DATE", "latest"),
            ("place", _PLACE, "last"),
        ),
    ),
    # An open run may leave the reads of its job as they were: then those of the run before it count, too.
    "groups": Partial(
        """
        SELECT day, job_id, group_id, is_instance, is_active, array(day) AS dates, place,
               CASE WHEN NOT is_active OR state IN ('start', 'fail', 'abort') THEN place END AS open_place
        FROM (
          SELECT event_date AS day, job_id, group_id, is_instance, state, touched IS NOT NULL AS is_active,
                 struct(time_ns, last_event_id AS id) AS place
          FROM {runs} LEFT JOIN (
            SELECT run_id AS touched FROM {run_inputs} UNION SELECT run_id FROM {run_outputs}
          ) ON run_id = touched
          WHERE is_counted
        ) WHERE is_active OR is_instance
        """,
        (
            ("job_id", "BIGINT", "key"),
            ("group_id", "STRING", "key"),
            ("is_instance", "BOOLEAN", "last"),
            ("is_active", "BOOLEAN", "last"),
            ("dates", "ARRAY<DATE>", "all"),
            ("place", _PLACE, "last"),
            ("open_place", _PLACE, "first"),
        ),
        # A run that finished hides those before it, unless instances of a mapped task overlap.
        condition="""
        is_instance OR max(is_instance) OVER (PARTITION BY day, job_id) OR place >= coalesce(
          max(CASE WHEN open_place IS NULL THEN place END) OVER (PARTITION BY day, job_id), place)
        """,
    ),
}
"""Kind -> its partials. `writes` has the last write of each job and dataset, `groups` what each run, or the
instances of a mapped task in a run of its DAG, add to the reads of their job."""

COLUMNS = {"kind": "STRING"} | {kind: partial.type for kind, partial in KINDS.items()}
"""Columns of the files of partials, with their types: the kind, and a column for each."""


def of_rows(kind: str) -> str:
    """Return a query for the partials of a kind for each `day`, from the rows of the tables with dates."""
    partial = KINDS[kind]
    return _wrapped(kind, partial.folded(partial.rows, "day"))


def of_partials(kind: str) -> str:
    """Return a query for the partials of a kind for each `day`, from other partials with a column `day`."""
    rows = f"SELECT day, `{kind}`.* FROM {{partials}} WHERE kind = '{kind}'"  # noqa: S608
    return _wrapped(kind, KINDS[kind].folded(rows, "day"))


def of_all(kind: str) -> str:
    """Return a query for one row for each key, from partials."""
    return KINDS[kind].folded(f"SELECT `{kind}`.* FROM {{partials}} WHERE kind = '{kind}'")  # noqa: S608


def _wrapped(kind: str, rows: str) -> str:
    names = ", ".join(f"`{name}`" for name, _, _ in KINDS[kind].columns)
    others = [
        f"CAST({f'struct({names})' if each == kind else 'NULL'} AS {partial.type}) AS `{each}`"
        for each, partial in KINDS.items()
    ]
    matching = f"SELECT *, {KINDS[kind].condition} AS is_kept FROM ({rows})"  # noqa: S608
    columns = ", ".join(["CAST(day AS STRING) AS day", f"'{kind}' AS kind", *others])
    return f"SELECT {columns} FROM ({matching}) WHERE is_kept"  # noqa: S608


def months_over(stored: Iterable[str]) -> set[str]:
    """Return the months before that of the last date among the keys of partials.

    >>> sorted(months_over(["2025-12-31", "2026-01-01", "2026-01-02"]))
    ['2025-12']
    """
    months = {key[:_MONTH] for key in stored if len(key) > _MONTH}
    return months - {max(months, default="")}


def to_fold(stored: Iterable[str]) -> list[str]:
    """Return the keys of partials that make up all: of months that are over, and of the dates of the others.

    >>> to_fold(["2025-12", "2025-12-31", "2026-01-01", "gone"])
    ['2025-12', '2026-01-01', 'gone']
    """
    stored = list(stored)
    over = months_over(stored)
    return [
        key
        for key in stored
        if key == DROPPED or (key in over if len(key) == _MONTH else key[:_MONTH] not in over)
    ]


CURRENT_GROUPS = """
WITH placed AS (
  SELECT job_id, group_id, is_instance, dates, place,
         lag(place) OVER (PARTITION BY job_id ORDER BY place DESC) AS later_place,
         min(open_place) OVER (PARTITION BY job_id ORDER BY place DESC
                               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS open_place
  FROM {groups} WHERE is_active
),
chained AS (
  SELECT *, min(later_place IS NULL OR coalesce(later_place >= open_place, false))
              OVER (PARTITION BY job_id ORDER BY place DESC) AS is_needed
  FROM placed
),
needed AS (
  SELECT job_id, group_id, is_instance, explode(dates) AS run_date FROM chained WHERE is_needed
  UNION SELECT job_id, group_id, is_instance, run_date FROM {writes}
  UNION SELECT job_id, group_id, is_instance, run_date FROM {jobs}
  UNION SELECT job_id, group_id, is_instance, run_date FROM {moved}
)
SELECT job_id, group_id, is_instance, run_date FROM needed
UNION SELECT job_id, group_id, true, explode(g.dates)
      FROM {groups} g LEFT SEMI JOIN needed USING (job_id, group_id) WHERE g.is_instance
"""
"""Query for the groups of runs that decide the current lineage, with all dates of their runs.

They are the last write of each job and dataset, the last run of each job, and the runs behind the last
reads of a job: the last group; for a group with an open run all groups back to the one before that run; and
so on.
`moved` has all writes of names that meant several datasets: each may be the current one of its time.
"""

MOVED = """
SELECT r.job_id, group_id, is_instance, r.event_date AS run_date
FROM {runs} r JOIN {run_outputs} USING (run_id) LEFT SEMI JOIN {moving} USING (dataset_id)
WHERE is_counted
"""
"""Query for the writes of some names."""
