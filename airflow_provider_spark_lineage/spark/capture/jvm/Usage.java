package sparklineage;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;

/**
 * Adds up what the stages of an application used, and keeps the stages whose tasks ran longest.
 *
 * Used by the thread of the listener bus alone.
 */
public class Usage {
    /** Limit of stages that are kept. */
    private static final int MOST_STAGES = 50;

    private final Map running = new HashMap();
    private final StageUsage[] longest = new StageUsage[MOST_STAGES];
    /** Cores and memory in bytes of each running executor, by its id. */
    private final Map cores = new HashMap();
    private final Map memory = new HashMap();
    private long executors = 0;
    private long mostCores = 0;
    private long mostMemory = 0;
    private int kept = 0;
    private long jobs = 0;
    private long firstMs = -1;
    private long lastMs = -1;
    private long idleMs = 0;
    private long stages = 0;
    private long failedStages = 0;
    private long failedTasks = 0;
    private long killedTasks = 0;
    private long speculativeTasks = 0;
    private final StageUsage total = new StageUsage();

    public void executorAdded(String id, int itsCores) {
        cores.put(id, Long.valueOf(itsCores));
        measure();
    }

    /** `bytes` is what Spark uses of an executor's heap for blocks and for its operators. */
    public void memoryAdded(String id, long bytes) {
        memory.put(id, Long.valueOf(bytes));
        measure();
    }

    private void executorRemoved(String id) {
        cores.remove(id);
        memory.remove(id);
    }

    private void measure() {
        long sumOfCores = 0;
        long sumOfMemory = 0;
        long count = 0;
        for (Iterator each = cores.entrySet().iterator(); each.hasNext();) {
            Map.Entry entry = (Map.Entry) each.next();
            long itsCores = ((Long) entry.getValue()).longValue();
            Long bytes = (Long) memory.get(entry.getKey());
            // The driver of a cluster is listed, too, without cores.
            if (itsCores > 0) {
                count += 1;
                sumOfCores += itsCores;
                sumOfMemory += bytes == null ? 0 : bytes.longValue();
            }
        }
        executors = Math.max(executors, count);
        mostCores = Math.max(mostCores, sumOfCores);
        mostMemory = Math.max(mostMemory, sumOfMemory);
    }

    /** Adds an event; `executions` has the number of the execution of SQL that a stage belongs to, if any. */
    public void add(SparkListenerEvent event, Map executions) {
        if (event instanceof SparkListenerTaskEnd) {
            taskEnded((SparkListenerTaskEnd) event);
        } else if (event instanceof SparkListenerStageCompleted) {
            SparkListenerStageCompleted completed = (SparkListenerStageCompleted) event;
            Integer stage = Integer.valueOf(completed.stageInfo().stageId());
            stageCompleted(completed, (Long) executions.get(stage));
        } else if (event instanceof SparkListenerStageSubmitted) {
            stageSubmitted(((SparkListenerStageSubmitted) event).stageInfo());
        } else if (event instanceof SparkListenerJobStart) {
            jobs += 1;
        } else if (event instanceof SparkListenerExecutorAdded) {
            SparkListenerExecutorAdded added = (SparkListenerExecutorAdded) event;
            executorAdded(added.executorId(), added.executorInfo().totalCores());
        } else if (event instanceof SparkListenerBlockManagerAdded) {
            SparkListenerBlockManagerAdded added = (SparkListenerBlockManagerAdded) event;
            memoryAdded(added.blockManagerId().executorId(), added.maxMem());
        } else if (event instanceof SparkListenerExecutorRemoved) {
            executorRemoved(((SparkListenerExecutorRemoved) event).executorId());
        }
    }

    private void taskEnded(SparkListenerTaskEnd event) {
        TaskInfo task = event.taskInfo();
        if (task == null) {
            return;
        }
        String reason = event.reason() == null ? "" : event.reason().getClass().getSimpleName();
        boolean isKilled = reason.equals("TaskKilled") || reason.equals("TaskCommitDenied");
        boolean isFailed = !isKilled && !reason.equals("Success$");
        total.tasks += 1;
        speculativeTasks += task.speculative() ? 1 : 0;
        killedTasks += isKilled ? 1 : 0;
        failedTasks += isFailed ? 1 : 0;
        // Null for a stage that has ended, or that began before the capture.
        StageUsage stage = (StageUsage) running.get(key(event.stageId(), event.stageAttemptId()));
        if (stage == null) {
            return;
        }
        stage.tasks += 1;
        stage.failedTasks += isFailed ? 1 : 0;
        if (isKilled || isFailed) {
            return;
        }
        long peak = 0;
        long rows = 0;
        TaskMetrics metrics = event.taskMetrics();
        if (metrics != null) {
            peak = metrics.peakExecutionMemory();
            rows = metrics.inputMetrics().recordsRead() + metrics.shuffleReadMetrics().recordsRead();
        }
        total.peak = Math.max(total.peak, peak);
        stage.took(task.duration(), rows);
    }

    private void stageSubmitted(StageInfo info) {
        long now = time(info.submissionTime());
        firstMs = firstMs < 0 ? now : firstMs;
        if (running.isEmpty() && lastMs >= 0) {
            idleMs += Math.max(now - lastMs, 0);
        }
        StageUsage stage = new StageUsage();
        stage.id = info.stageId();
        stage.attempt = info.attemptNumber();
        stage.partitions = info.numTasks();
        running.put(key(stage.id, stage.attempt), stage);
    }

    private static long time(scala.Option milliseconds) {
        return milliseconds.isDefined() ? ((Long) milliseconds.get()).longValue() : System.currentTimeMillis();
    }

    private void stageCompleted(SparkListenerStageCompleted event, Long execution) {
        StageInfo info = event.stageInfo();
        StageUsage stage = (StageUsage) running.remove(key(info.stageId(), info.attemptNumber()));
        if (stage == null) {
            // It began before the capture: its sums have work from then.
            return;
        }
        stages += 1;
        lastMs = time(info.completionTime());
        failedStages += info.failureReason().isDefined() ? 1 : 0;
        stage.execution = execution;
        stage.name = info.name();
        stage.isFailed = info.failureReason().isDefined();
        if (info.submissionTime().isDefined() && info.completionTime().isDefined()) {
            stage.elapsedMs = ((Long) info.completionTime().get()).longValue()
                - ((Long) info.submissionTime().get()).longValue();
        }
        if (info.taskMetrics() != null) {
            stage.add(info.taskMetrics());
            total.add(info.taskMetrics());
        }
        stage.pythonMs = StageUsage.pythonMs(info);
        total.pythonMs += stage.pythonMs;
        keep(stage);
    }

    private void keep(StageUsage stage) {
        int at = kept;
        if (kept < MOST_STAGES) {
            kept += 1;
        } else {
            at = 0;
            for (int i = 1; i < kept; i++) {
                at = longest[i].isLonger(longest[at]) ? at : i;
            }
            if (!stage.isLonger(longest[at])) {
                return;
            }
        }
        longest[at] = stage;
    }

    private static Object key(int id, int attempt) {
        return Long.valueOf(((long) id << 32) + attempt);
    }

    /** Writes the fields of `records.usage.Usage`. */
    public void write(Json out) {
        out.open('{');
        number(out, "jobs", jobs);
        number(out, "stages", stages);
        number(out, "failed_stages", failedStages);
        number(out, "failed_tasks", failedTasks);
        number(out, "killed_tasks", killedTasks);
        number(out, "speculative_tasks", speculativeTasks);
        number(out, "span_ms", firstMs < 0 ? 0 : Math.max(lastMs - firstMs, 0));
        number(out, "idle_ms", idleMs);
        number(out, "executors", executors);
        number(out, "cores", mostCores);
        number(out, "memory_bytes", mostMemory);
        number(out, "peak_task_memory_bytes", total.peak);
        total.counts(out);
        out.name("longest_stages");
        out.open('[');
        for (int i = 0; i < kept; i++) {
            longest[i].write(out);
        }
        out.close(']');
        out.close('}');
    }

    static void number(Json out, String name, long value) {
        out.name(name);
        out.raw(Long.valueOf(value));
    }
}
