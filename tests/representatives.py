"""What `make test` runs of the tests that start Spark or Airflow: one of each way, and one of each matrix.

The rest runs in `make full`. A new live test is in `make full` alone, until a row here names it.
"""

from __future__ import annotations

import pytest

REPRESENTATIVES = {
    "a session in the task's process": (
        "operators/test_pyspark.py::test_does_what_airflows_operator_does[False]",
        "live/test_live_files.py",
        "live/test_live_sessions.py",
        "live/test_live_classes.py",
        "live/test_live_foresight.py",
        "live/test_live_anywhere.py",
        "live/test_live_column_kinds.py",
    ),
    "unmodified operators": (
        "plugins/test_unmodified_operators.py::test_every_task_reports_its_columns[alone]",
        "plugins/test_unmodified_operators.py::test_each_execution_is_a_child_run[alone]",
        "plugins/test_unmodified_operators.py::test_what_the_provider_reports_by_itself_stays[alone]",
        "plugins/test_unmodified_operators.py"
        "::test_a_task_without_spark_and_one_that_is_left_out_have_nothing_of_ours[alone]",
        "plugins/test_unmodified_jobs.py::test_every_job_carries_what_writes_it_down[alone]",
    ),
    "spark-submit and its like": (
        "operators/test_spark_submit.py",
        "operators/test_spark_sql.py",
        "operators/test_spark_pipelines.py::test_arguments_and_templates_are_those_of_airflow",
        "operators/test_spark_pipelines.py::test_an_older_provider_is_one_sentence",
        "operators/test_planned_jobs.py",
        "live/test_live_agent.py::test_what_a_driver_does_is_written_down",
        "submitted/test_pipelines_job.py",
    ),
    "Spark Connect": (
        "operators/test_connect.py",
        "live/test_live_connect.py",
        "live/test_live_connect_no_harm.py::test_a_statement_over_a_frame_keeps_its_view",
    ),
    "event logs": (
        "live/test_live_event_log.py::test_the_log_tells_what_capture_tells[zstd]",
        "live/test_live_event_log.py::test_an_ordinary_log_tells_what_capture_tells[true]",
    ),
    "launchers": (
        "launchers/test_livy_in_airflow.py",
        "launchers/test_armed_in_airflow.py::test_a_command_has_its_records[machine-True]",
        "launchers/test_launches.py",
        "extractors/test_launcher_extractor.py",
        "extractors/test_spark_extractor.py",
    ),
    "sources": (
        "live/test_live_databases.py",
        "live/test_live_delta.py::test_a_table_is_its_location_with_the_tables_name_beside",
        "live/test_live_delta.py::test_merge",
        "live/test_live_hive.py::test_insert_into_a_table_of_hives_own_format",
        "live/test_live_iceberg.py::test_a_table_is_its_location_at_a_snapshot",
        "live/test_live_kafka.py::test_a_batch_is_written_to_its_topic",
        "live/test_live_kafka.py::test_a_stream_is_read_and_written",
        "live/test_live_s3.py",
        "live/test_live_third_party.py",
    ),
    "streams, jobs over RDDs, drops": (
        "live/test_live_streaming.py::test_what_streams_from_anywhere_into_anything_is_said[folder-",
        "live/test_live_streaming.py::test_streams_with_state_are_traced",
        "live/test_live_streaming.py::test_a_batch_that_fails_is_a_failure",
        "live/test_live_rdd.py::test_each_action_is_one_record",
        "live/test_live_rdd.py::test_records_keep_the_order_of_the_program",
        "live/test_live_drops.py::test_drop_says_what_is_gone[lakes-",
    ),
    "harm and secrets": (
        "live/test_live_no_harm.py::test_a_users_listener_keeps_working",
        "live/test_live_no_harm.py::test_a_sink_that_fails",
        "live/test_live_no_harm.py::test_an_accessor_that_fails_costs_its_fact_alone",
        "live/test_live_no_harm.py::test_a_capture_that_cannot_start_harms_nothing",
        "live/test_live_no_harm.py::test_a_forked_child_leaves_the_parents_gateway_alone",
        "live/test_live_secrets.py::test_no_planted_secret_is_written_down[masked]",
        "architecture/test_imports.py",
        "facets/test_facets_redaction.py",
        "test_task.py",
        "test_conf.py",
        "test_provider_info.py",
    ),
    "what an author states, assets": (
        "annotation/test_followed_in_airflow.py"
        "::test_each_write_of_a_successful_task_is_one_event_of_its_asset[dag.test]",
        "annotation/test_followed_in_airflow.py::test_an_operators_own_work_after_the_task_is_done[dag.test]",
        "annotation/test_extractors_of_yours.py",
        "annotation/test_hooks_of_a_task.py",
        "annotation/test_assets_of_a_task.py",
        "annotation/test_stated_datasets.py",
        "annotation/test_who_wins.py",
        "plugins/test_auto_capture.py",
    ),
    "the command": (
        "cli/test_run.py::test_a_spark_script_is_recorded",
        "cli/test_run.py::test_explain_shows_the_run",
        "cli/test_run.py::test_events_are_valid_and_those_of_the_library",
        "cli/test_doctor.py::test_healthy_machine_exits_0",
        "cli/test_doctor.py::test_every_problem_is_reported_at_once",
        "cli/test_doctor_planted.py::test_many_mistakes_in_files_and_variables",
    ),
    "the harness": (
        "testing/test_runs.py::test_a_dag_object_runs_with_its_configuration",
        "testing/test_in_dag.py::test_events_of_a_file_are_those_of_this_run",
        "testing/test_newcomers_page.py::test_the_check_in_the_dag_passes_as_it_stands",
    ),
    "proofs": (
        "soundness/test_soundness.py::test_what_changes_with_a_column_has_an_edge_from_it[jobs: ",
        "soundness/test_soundness.py::test_what_changes_with_a_column_has_an_edge_from_it[nested: ",
        "soundness/test_soundness.py::test_what_changes_with_a_column_has_an_edge_from_it[subqueries: ",
        "soundness/test_seeded_programs.py::test_what_is_said_of_datasets_is_so[94]",
        "soundness/test_seeded_programs.py::test_what_is_said_of_datasets_is_so[97]",
        "soundness/test_seeded_programs.py::test_what_is_said_of_datasets_is_so[238]",
    ),
}
"""Way -> beginnings of the ids of tests, below `tests/`."""

MARKS = ("spark", "airflow")


def mark(items: list[pytest.Item], *, whole: bool) -> None:
    """Mark the representatives; raises UsageError where `whole` collections have none with such a name."""
    live = [item for item in items if any(item.get_closest_marker(name) for name in MARKS)]
    for names in REPRESENTATIVES.values():
        for name in names:
            named = [item for item in live if item.nodeid.startswith(f"tests/{name}")]
            for item in named:
                item.add_marker("representative")
            if whole and not named:
                raise pytest.UsageError(f"tests/representatives.py: no test begins with `{name}`")
