package sparklineage;

import java.util.Iterator;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.StageInfo;

/**
 * What the tasks of one attempt of a stage used, or of all.
 *
 * Nothing is kept for a task: durations are counted in classes, each an eighth of a power of two.
 */
public class StageUsage {
    private static final String PYTHON = "time to run Python workers";

    int id;
    int attempt;
    int partitions;
    Long execution;
    String name = "";
    boolean isFailed = false;
    long elapsedMs = 0;
    long tasks = 0;
    long failedTasks = 0;
    long peak = 0;
    long slowestMs = -1;
    long rowsOfSlowest = 0;
    long rows = 0;
    long runMs = 0;
    long cpuMs = 0;
    long gcMs = 0;
    long memorySpilled = 0;
    long diskSpilled = 0;
    long inputRows = 0;
    long inputBytes = 0;
    long outputRows = 0;
    long outputBytes = 0;
    long shuffleRead = 0;
    long shuffleWritten = 0;
    long pythonMs = 0;
    /** Numbers of successful tasks by the class of their duration; created at the first. */
    int[] durations = null;

    /** Returns whether this stage is kept rather than another one: failed ones first. */
    boolean isLonger(StageUsage other) {
        return isFailed == other.isFailed ? runMs > other.runMs : isFailed;
    }

    void took(long milliseconds, long rowsOfTask) {
        if (durations == null) {
            durations = new int[512];
        }
        durations[classOf(milliseconds)] += 1;
        rows += rowsOfTask;
        if (milliseconds > slowestMs) {
            slowestMs = milliseconds;
            rowsOfSlowest = rowsOfTask;
        }
    }

    void add(TaskMetrics metrics) {
        runMs += metrics.executorRunTime();
        cpuMs += metrics.executorCpuTime() / 1000000;
        gcMs += metrics.jvmGCTime();
        memorySpilled += metrics.memoryBytesSpilled();
        diskSpilled += metrics.diskBytesSpilled();
        inputRows += metrics.inputMetrics().recordsRead();
        inputBytes += metrics.inputMetrics().bytesRead();
        outputRows += metrics.outputMetrics().recordsWritten();
        outputBytes += metrics.outputMetrics().bytesWritten();
        shuffleRead += metrics.shuffleReadMetrics().totalBytesRead();
        shuffleWritten += metrics.shuffleWriteMetrics().bytesWritten();
    }

    /** Returns how long Python workers ran, which is a metric of SQL from Spark 4.0 on. */
    static long pythonMs(StageInfo info) {
        long sum = 0;
        try {
            for (Iterator each = Paths.all(info.accumulables().values()).iterator(); each.hasNext();) {
                AccumulableInfo counter = (AccumulableInfo) each.next();
                boolean isPython = counter.name().isDefined() && counter.name().get().equals(PYTHON);
                if (isPython && counter.value().isDefined() && counter.value().get() instanceof Long) {
                    sum += ((Long) counter.value().get()).longValue();
                }
            }
        } catch (RuntimeException error) {
            // The scheduler may add a late task meanwhile: this figure is too small then.
        }
        return sum;
    }

    void counts(Json out) {
        Usage.number(out, "tasks", tasks);
        Usage.number(out, "run_ms", runMs);
        Usage.number(out, "cpu_ms", cpuMs);
        Usage.number(out, "gc_ms", gcMs);
        Usage.number(out, "python_ms", pythonMs);
        Usage.number(out, "memory_spilled_bytes", memorySpilled);
        Usage.number(out, "disk_spilled_bytes", diskSpilled);
        Usage.number(out, "input_rows", inputRows);
        Usage.number(out, "input_bytes", inputBytes);
        Usage.number(out, "output_rows", outputRows);
        Usage.number(out, "output_bytes", outputBytes);
        Usage.number(out, "shuffle_read_bytes", shuffleRead);
        Usage.number(out, "shuffle_written_bytes", shuffleWritten);
    }

    void write(Json out) {
        out.open('{');
        Usage.number(out, "id", id);
        Usage.number(out, "attempt", attempt);
        if (execution != null) {
            Usage.number(out, "execution", execution.longValue());
        }
        out.name("name");
        out.text(name);
        out.name("is_failed");
        out.raw(String.valueOf(isFailed));
        Usage.number(out, "partitions", partitions);
        Usage.number(out, "elapsed_ms", elapsedMs);
        Usage.number(out, "failed_tasks", failedTasks);
        Usage.number(out, "rows", rows);
        Usage.number(out, "rows_of_slowest", rowsOfSlowest);
        Usage.number(out, "slowest_ms", Math.max(slowestMs, 0));
        Usage.number(out, "median_ms", median());
        counts(out);
        out.close('}');
    }

    /** Returns the median duration, at most an eighth too small. */
    long median() {
        long count = 0;
        for (int i = 0; durations != null && i < durations.length; i++) {
            count += durations[i];
        }
        long before = 0;
        for (int i = 0; durations != null && i < durations.length; i++) {
            before += durations[i];
            if (before * 2 >= count && before > 0) {
                return Math.min(leastOf(i), slowestMs);
            }
        }
        return 0;
    }

    static int classOf(long milliseconds) {
        if (milliseconds < 8) {
            return (int) Math.max(milliseconds, 0);
        }
        int power = 63 - Long.numberOfLeadingZeros(milliseconds);
        return power * 8 + (int) (milliseconds >> power - 3 & 7) - 16;
    }

    static long leastOf(int index) {
        return index < 8 ? index : (long) (8 + index % 8) << index / 8 - 1;
    }
}
