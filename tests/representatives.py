"""Live tests by where they run.

`REPRESENTATIVES` run in `make test`: one of each way to run Spark, and one of each matrix. `LONG` tests run
in `make long`: each takes minutes, and a shorter test has another row of the same matrix. The others run in
`make rest`, as a new live test does.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

REPRESENTATIVES = {
    "example DAGs, README": (
        "tests/docs/test_first_event.py",
        "system_tests/test_nycflights.py::test_pipeline_reports_its_lineage",
        "system_tests/test_nycflights.py::test_checks_report_at_the_datasets_that_they_read",
        "system_tests/test_nycflights_fails.py::test_failure_claims_no_unfinished_output[dag.test]",
        "system_tests/test_plain_operators.py::test_unmodified_operators_report_the_same[dag.test]",
        "system_tests/test_task_shapes.py",
    ),
    "a session in the task's process": (
        "tests/operators/test_pyspark.py::test_does_what_airflows_operator_does[False]",
        "tests/live/test_live_files.py",
        "tests/live/test_live_file_names.py",
        "tests/live/test_live_file_writes.py",
        "tests/live/test_live_sessions.py",
        "tests/live/test_live_classes.py",
        "tests/live/test_live_foresight.py",
        "tests/live/test_live_anywhere.py",
        "tests/live/test_live_column_kinds.py",
    ),
    "unmodified operators": (
        "tests/plugins/test_unmodified_operators.py::test_every_task_reports_its_columns[alone]",
        "tests/plugins/test_unmodified_operators.py::test_the_viewer_has_what_every_task_wrote[alone]",
        "tests/plugins/test_unmodified_operators.py::test_each_execution_is_a_child_run[alone]",
        "tests/plugins/test_unmodified_operators.py::test_the_providers_own_facets_stay[alone]",
        "tests/plugins/test_unmodified_operators.py"
        "::test_a_task_without_spark_and_one_that_is_left_out_have_nothing_of_ours[alone]",
        "tests/plugins/test_unmodified_jobs.py::test_every_job_carries_the_agent[alone]",
    ),
    "spark-submit and its like": (
        "tests/operators/test_spark_submit.py",
        "tests/operators/test_spark_sql.py",
        "tests/operators/test_spark_pipelines.py::test_arguments_and_templates_are_those_of_airflow",
        "tests/operators/test_spark_pipelines.py::test_an_older_provider_is_one_sentence",
        "tests/operators/test_planned_jobs.py",
        "tests/live/test_live_agent.py::test_a_drivers_executions_are_recorded",
        "tests/submitted/test_pipelines_job.py",
    ),
    "Spark Connect": (
        "tests/operators/test_connect.py",
        "tests/live/test_live_connect.py",
        "tests/live/test_live_connect_no_harm.py::test_a_statement_over_a_frame_keeps_its_view",
    ),
    "event logs": (
        "tests/live/test_live_event_log.py::test_the_log_has_the_lineage_of_capture[zstd]",
        "tests/live/test_live_event_log.py::test_an_ordinary_log_has_the_lineage_of_capture[true]",
    ),
    "launchers": (
        "tests/launch/test_livy_in_airflow.py",
        "tests/launch/test_armed_in_airflow.py::test_a_command_has_its_records[machine-True]",
        "tests/launch/test_launches.py",
        "tests/extractors/test_launcher_extractor.py",
        "tests/extractors/test_spark_extractor.py",
    ),
    "sources": (
        "tests/live/test_live_databases.py",
        "tests/live/test_live_delta.py::test_a_table_is_its_location_with_the_tables_name_beside",
        "tests/live/test_live_delta.py::test_merge",
        "tests/live/test_live_hive.py::test_insert_into_a_table_of_hives_own_format",
        "tests/live/test_live_iceberg.py::test_a_table_is_its_location_at_a_snapshot",
        "tests/live/test_live_kafka.py::test_a_batch_is_written_to_its_topic",
        "tests/live/test_live_kafka.py::test_a_stream_is_read_and_written",
        "tests/live/test_live_s3.py",
        "tests/live/test_live_third_party.py",
    ),
    "streams, jobs over RDDs, drops": (
        "tests/live/test_live_streaming.py::test_streams_from_any_source_into_any_sink_are_captured[folder-",
        "tests/live/test_live_streaming.py::test_streams_with_state_are_traced",
        "tests/live/test_live_streaming.py::test_a_batch_that_fails_is_a_failure",
        "tests/live/test_live_rdd.py::test_each_action_is_one_record",
        "tests/live/test_live_rdd.py::test_records_keep_the_order_of_the_program",
        "tests/live/test_live_drops.py::test_drop_says_what_is_gone[lakes-",
    ),
    "harm and secrets": (
        "tests/live/test_live_no_harm.py::test_a_users_listener_keeps_working",
        "tests/live/test_live_no_harm.py::test_a_sink_that_fails",
        "tests/live/test_live_no_harm.py::test_an_accessor_that_fails_costs_its_fact_alone",
        "tests/live/test_live_no_harm.py::test_a_capture_that_cannot_start_harms_nothing",
        "tests/live/test_live_no_harm.py::test_a_forked_child_leaves_the_parents_gateway_alone",
        "tests/live/test_live_secrets.py::test_no_planted_secret_is_written_down[masked]",
        "tests/architecture/test_imports.py",
        "tests/facets/test_facets_redaction.py",
        "tests/task/test_task.py",
        "tests/task/test_task_events.py",
        "tests/task/test_task_stops.py",
        "tests/test_conf.py",
        "tests/test_get_provider_info.py",
    ),
    "what an author states, assets": (
        "tests/annotation/test_followed_in_airflow.py"
        "::test_each_write_of_a_successful_task_is_one_event_of_its_asset[dag.test]",
        "tests/annotation/test_followed_in_airflow.py::test_an_operators_own_work_after_the_task_is_done[dag.test]",
        "tests/annotation/test_extractors_of_yours.py",
        "tests/annotation/test_hooks_of_a_task.py",
        "tests/annotation/test_assets_of_a_task.py",
        "tests/annotation/test_stated_datasets.py",
        "tests/annotation/test_who_wins.py",
        "tests/plugins/test_auto_capture.py",
        "tests/plugins/test_auto_capture_of_launches.py",
    ),
    "the viewer in Airflow": (
        "tests/task/test_stored_lineage.py",
        "tests/ui/test_answers.py",
        "tests/ui/test_ui_application.py",
        "tests/ui/test_in_airflow.py",
        "tests/ui/test_tab.py",
    ),
    "the command": (
        "tests/cli/test_run.py::test_a_spark_script_is_recorded",
        "tests/cli/test_run.py::test_explain_shows_the_run",
        "tests/cli/test_run.py::test_events_are_valid_and_those_of_the_library",
        "tests/cli/test_doctor.py::test_healthy_machine_exits_0",
        "tests/cli/test_doctor.py::test_every_problem_is_reported_at_once",
        "tests/cli/test_doctor_planted.py::test_planted_mistakes_are_found[files-and-variables]",
    ),
    "the warehouse": (
        "tests/warehouse/test_load.py::test_any_order_split_repetition_and_crash_gives_the_same_tables[0]",
        "tests/warehouse/test_load.py::test_lines_that_are_no_events_are_counted_and_kept",
    ),
    "the harness": (
        "tests/testing/test_runs.py::test_a_dag_object_runs_with_its_configuration",
        "tests/testing/test_in_dag.py::test_events_of_a_file_are_those_of_this_run",
        "tests/testing/test_newcomers_page.py::test_the_check_in_the_dag_passes_as_it_stands",
    ),
    "proofs": (
        "tests/soundness/test_soundness.py::test_dependent_columns_have_an_edge[jobs: ",
        "tests/soundness/test_soundness.py::test_dependent_columns_have_an_edge[nested: ",
        "tests/soundness/test_soundness.py::test_dependent_columns_have_an_edge[subqueries: ",
        "tests/soundness/test_seeded_programs.py::test_lineage_of_datasets_is_true[94]",
        "tests/soundness/test_seeded_programs.py::test_lineage_of_datasets_is_true[97]",
        "tests/soundness/test_seeded_programs.py::test_lineage_of_datasets_is_true[238]",
        "tests/live/test_live_impact.py::test_whatever_changes_is_in_the_answer[0]",
        "tests/live/test_live_impact.py::test_whoever_fails_without_a_column_is_in_the_answer[0]",
        "tests/live/test_live_impact.py::test_names_inside_of_a_job_have_no_meaning",
    ),
}
"""Way -> beginnings of the ids of tests."""

LONG = {
    "the pipeline of the example DAGs, run in other ways": (
        "system_tests/test_nycflights_on_yarn.py",
        "system_tests/test_nycflights_unmodified.py",
        "system_tests/test_nycflights.py::test_the_pipeline_in_sql_has_the_lineage_of_that_in_python",
        "system_tests/test_plain_operators.py::test_our_operators_report_the_same_as_unmodified_ones",
        "system_tests/test_lineage_warehouse.py",
    ),
    "shapes of scripts": ("tests/launch/test_shapes_in_airflow.py",),
    "secrets in what the command writes": (
        "tests/live/test_live_secrets.py::test_no_planted_secret_is_in_what_the_command_writes[none]",
        "tests/live/test_live_secrets.py::test_no_planted_secret_is_in_what_the_command_writes[masked]",
    ),
    "proofs": (
        "tests/soundness/test_soundness.py::test_the_proof_finds_an_edge_that_is_not_there",
        "tests/soundness/test_row_level.py::test_dependent_columns_have_an_edge[row level: update, delta]",
        "tests/soundness/test_row_level.py::test_dependent_columns_have_an_edge"
        "[row level: delete by a subquery, iceberg]",
        "tests/live/test_live_impact_example.py",
        *(
            f"tests/live/test_live_impact.py::{name}[{seed}]"
            for name in (
                "test_whatever_changes_is_in_the_answer",
                "test_whoever_fails_without_a_column_is_in_the_answer",
            )
            for seed in range(1, 30)
        ),
    ),
    "histories of a warehouse": (
        "tests/warehouse/test_load.py::test_a_load_that_died_at_any_step_is_repeated",
        "tests/warehouse/test_load.py::test_events_of_every_producer_are_loaded",
        *(
            f"tests/warehouse/test_load.py::test_any_order_split_repetition_and_crash_gives_the_same_tables[{seed}]"
            for seed in range(1, 50)
        ),
        "tests/warehouse/test_upkeep.py::test_nothing_but_rows_of_dates_is_lost_by_retention",
    ),
    "a warehouse of Delta, of Iceberg, by a cluster, in object storage": (
        "tests/warehouse/test_cluster.py::test_a_cluster_loads_the_tables_that_one_machine_loads",
        "tests/warehouse/test_formats.py::test_a_lake_has_the_rows_of_parquet",
        "tests/warehouse/test_formats.py::test_any_history_has_the_same_rows_in_a_lake",
        "tests/warehouse/test_object_storage.py",
    ),
    "events to Kafka, and from Kafka": (
        "tests/live/test_live_kafka.py::test_a_topic_is_loaded_into_a_warehouse_once",
        "tests/task/test_delivery_to_kafka.py::test_a_broker_that_goes_away",
        "tests/task/test_delivery_to_kafka.py::test_a_process_ends_without_a_broker",
        "tests/task/test_delivery_to_kafka.py::test_a_task_that_is_told_to_stop",
        "tests/task/test_delivery_to_kafka.py::test_kafka_and_http_get_the_same_events",
        "tests/task/test_delivery_to_kafka.py::test_kafka_is_enough_if_http_refuses_events",
        "tests/task/test_delivery_to_kafka.py::test_reports_of_events_do_not_fill",
        "tests/task/test_delivery_to_kafka.py::test_the_listener_sends_by_a_producer",
    ),
    "the harness": (
        "tests/testing/test_runs.py::test_a_run_that_takes_too_long_is_ended_with_all_its_processes",
    ),
}
"""The same for tests that take minutes."""

MARKS = ("spark", "airflow")


def mark(items: list[pytest.Item], *, whole: bool) -> None:
    """Mark the tests of both tables; raise UsageError if a row names no test although `tests/` is `whole`.

    A module without any test is skipped with this Spark: its sources have no release for it.
    """
    live = [item for item in items if any(item.get_closest_marker(name) for name in MARKS)]
    tables = {"representative": REPRESENTATIVES, "long": LONG}
    rows = [(marker, name) for marker, table in tables.items() for names in table.values() for name in names]
    for marker, name in rows:
        named = [item for item in live if item.nodeid.startswith(name)]
        for item in named:
            item.add_marker(marker)
        file = name.partition("::")[0]
        is_skipped = (ROOT / file).is_file() and not any(item.nodeid.startswith(file) for item in items)
        if whole and not named and name.startswith("tests/") and not is_skipped:
            raise pytest.UsageError(f"tests/representatives.py: no test begins with `{name}`")
