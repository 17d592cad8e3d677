"""Sentences of gaps about a task of Airflow: its applications, their capture, and its events."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Sentence

# Texts of jobs.
UNREAD_TEXT = Sentence(GapKind.UNREAD_PROGRAM, "its text could not be read: {error}")
TEXT_ELSEWHERE = Sentence(
    GapKind.NOT_CAPTURED,
    "its text is not on this worker, so its inputs and outputs are unknown",
)
UNREAD_CODE = Sentence(
    GapKind.NOT_CAPTURED,
    "its code ({kind}) is not read, so its inputs and outputs are unknown",
)
OPEN_NAMES = Sentence(GapKind.NOT_CONSTANT, "some names in the text are known only when it runs; {cure}")
UNREAD_FLOWS = Sentence(GapKind.UNREAD_PROGRAM, "flows in Python are not read")
OTHER_MACHINE = Sentence(
    GapKind.UNCERTAIN_CHANGE,
    "the text was read from {path} on this worker; the application runs the file of another machine",
)
UNKNOWN_ARGUMENTS = Sentence(
    GapKind.NOT_CONSTANT, "the application's arguments are unknown from number {number} on"
)

# Capture.
SWITCHED_OFF = Sentence(
    GapKind.NOT_CAPTURED,
    "operators of other packages are not captured: set [spark_lineage] auto_capture to True",
)
NOT_STARTED = Sentence(
    GapKind.NOT_CAPTURED, "auto-capture did not start in this task: the task's log may say why"
)
ENDED_EARLY = Sentence(
    GapKind.NOT_CAPTURED,
    "it is unknown which part of the job ran before the task ended, so its text is not used",
)
STOPPED = Sentence(
    GapKind.TASK_STOPPED, "Airflow asked the task to stop: its later work is not in this event"
)
NO_FILE_SYSTEM = Sentence(
    GapKind.NO_FILE_SYSTEM,
    "the text has paths without a scheme, and Hadoop's default file system is unknown on this machine:"
    " set HADOOP_CONF_DIR, or the property spark.hadoop.fs.defaultFS",
)

# Events and what is stored of them.
TOO_LARGE = Sentence(GapKind.EVENT_TOO_LARGE, "{why}: it leaves out {lost}")
TOO_LARGE_FOR_FACETS = Sentence(
    GapKind.EVENT_TOO_LARGE, "the event would be too large: it leaves out the facets {lost}"
)
TOO_LARGE_FOR_RESULTS = Sentence(
    GapKind.EVENT_TOO_LARGE, "the event would be too large: it leaves out {lost}"
)
NOT_LISTED = Sentence(GapKind.LIMIT_REACHED, "{count} more {names} are not listed")
LAST_LOOK = Sentence(GapKind.LIMIT_REACHED, "a sensor was rescheduled: an XCom has only its last look")
TOO_MANY_PROCESSES = Sentence(
    GapKind.LIMIT_REACHED,
    "the task continued in many processes: the first ones are left out, because the store is limited",
)

# Drivers of other processes.
DRIVER_WROTE_NOTHING = Sentence(
    GapKind.NOT_CAPTURED,
    "the driver has written nothing: the task ended before the driver began, or the agent did not start "
    "in it or could not write to {place}, as the driver's log says",
)
NO_LOG = Sentence(
    GapKind.NOT_CAPTURED,
    "the driver has written no event log: it did not start Spark, or the task ended before it did",
)
OWN_LOG = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured: the application writes its event log to {place}; leave spark.eventLog.enabled to "
    "the operator, or read that log by `spark-lineage events`",
)
LOG_IS_OFF = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured: the job sets spark.eventLog.enabled to false, and the lineage of a driver without "
    "Python comes from that log; remove the setting",
)
UNREACHABLE = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured: the driver runs on the cluster; set [spark_lineage] records to a URI that it can "
    "write and this worker can read",
)
WITHOUT_FILES = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured: in Kubernetes' cluster mode the driver cannot get files of this worker; set "
    "[spark_lineage] agent to the URI of the zip that `spark-lineage agent --out` writes",
)
NO_HOOK = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured: {operator} has neither `_get_hook` nor `hook`, unlike Airflow's operators",
)
NO_JOB = Sentence(
    GapKind.NOT_CAPTURED,
    "the task ended before it started a job, or started it by another hook than its operator's",
)
APPLICATION_WROTE_NOTHING = Sentence(
    GapKind.NOT_CAPTURED,
    "the application has written nothing to {place} since the task began: the agent did not start in its "
    "driver, or could not write there, as the driver's log says, or the application still runs",
)
NOT_BELOW = Sentence(
    GapKind.NOT_CAPTURED,
    "its records go to {place}, which is not below [spark_lineage] records: they are not read",
)
NOT_A_DISK = Sentence(
    GapKind.NOT_CAPTURED,
    "its records go to {place}, which this worker cannot read as a local folder: download them, and read "
    "them by `spark-lineage events`",
)
SEVERAL_APPLICATIONS = Sentence(
    GapKind.NOT_CAPTURED,
    "{place} has records of {count} applications since the task began; the task's own could not be told "
    "apart: give each run a folder of its own, with `run_id` in its name",
)
MAY_BE_OF_OTHERS = Sentence(
    GapKind.UNCERTAIN_CHANGE,
    "{place} may also have records of another run: "
    "give each run a folder of its own, with `run_id` in its name",
)

# Commands of a shell.
NO_PYTHON = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured of {application}: the agent needs a driver that runs Python",
)
NOT_CALLED = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured: no `spark-submit` was called by its name; the script did not come to it, or calls "
    "it by a path, as another user, in a container or on another machine",
)
NOT_SEEN = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured of {application}: it did not run, or the script calls it by a path, as another user "
    "or in an environment of its own",
)
IN_BACKGROUND = Sentence(
    GapKind.NOT_RECORDED,
    "{application} still runs in the background: its lineage is incomplete; its files in {place} are removed "
    "by a later task",
)
NO_SHIM = Sentence(GapKind.NOT_CAPTURED, "nothing is captured: {why}")
RUNS_ELSEWHERE = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured of {application}: it runs in a container or on another machine",
)
COMMAND_ELSEWHERE = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured: the command runs on another machine; set [spark_lineage] records to a URI, and "
    "[spark_lineage] agent to the zip that `spark-lineage agent --out` writes, both for that machine",
)
IN_BACKGROUND_THERE = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured: the command on the other machine runs something in the background, which the agent "
    "could change",
)
UNREAD_PROPERTIES = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured of {application}: a file of its properties cannot be read",
)
WRAPPED = Sentence(
    GapKind.NOT_CAPTURED,
    "nothing is captured of {application}: its `spark-submit` is a program with options of its own",
)
