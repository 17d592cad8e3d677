package sparklineage;

import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.storage.RDDInfo;

/** The jobs that one call over an RDD started, and the counts of their tasks. */
public class Jobs {
    private final Set running = new HashSet();
    /** Stages with an RDD that has no parents: they read from outside of Spark. */
    private final Set reading = new HashSet();
    private int count = 0;
    private boolean readsOnce = true;
    private boolean isExact = true;
    private TaskMetrics read = null;
    private long rows = 0;
    private long bytes = 0;

    public void began(SparkListenerJobStart event) {
        count += 1;
        running.add(Integer.valueOf(event.jobId()));
        for (Iterator each = Paths.all(event.stageInfos()).iterator(); each.hasNext();) {
            StageInfo stage = (StageInfo) each.next();
            List rdds = Paths.all(stage.rddInfos());
            boolean isChain = true;
            RDDInfo leaf = null;
            for (Iterator one = rdds.iterator(); one.hasNext();) {
                RDDInfo rdd = (RDDInfo) one.next();
                int parents = rdd.parentIds().size();
                leaf = parents == 0 ? rdd : leaf;
                // Spark counts reads of cached blocks as input, too: leave stages with cached RDDs out.
                isChain = isChain && parents < 2 && !rdd.storageLevel().isValid();
            }
            if (leaf != null) {
                reading.add(Integer.valueOf(stage.stageId()));
                readsOnce = readsOnce && isChain && stage.numTasks() <= leaf.numPartitions();
            }
        }
    }

    /** A job that belongs to an execution of SQL, which has its own counts: a batch of a stream, for example. */
    public void beganInExecution() {
        count += 1;
        isExact = false;
    }

    /** Counts are not exact any more: Spark adds up all attempts of a task, also failed ones. */
    public void taskFailed() {
        isExact = false;
    }

    public void stageCompleted(SparkListenerStageCompleted event) {
        TaskMetrics metrics = event.stageInfo().taskMetrics();
        if (event.stageInfo().failureReason().isDefined() || metrics == null) {
            isExact = false;
            return;
        }
        if (reading.contains(Integer.valueOf(event.stageInfo().stageId()))) {
            read = metrics;
        }
        rows += metrics.outputMetrics().recordsWritten();
        bytes += metrics.outputMetrics().bytesWritten();
    }

    public void jobEnded(int job) {
        running.remove(Integer.valueOf(job));
    }

    /** Writes the number of jobs, `read` if one stage read everything, and `written`; only exact counts. */
    public void write(Json out) {
        boolean isDone = isExact && running.isEmpty();
        out.open('{');
        out.name("jobs");
        out.raw(Integer.valueOf(count));
        if (isDone && read != null && readsOnce && reading.size() == 1) {
            write(out, "read", read.inputMetrics().recordsRead(), read.inputMetrics().bytesRead());
        }
        if (isDone && count > 0) {
            write(out, "written", rows, bytes);
        }
        out.close('}');
    }

    public static void write(Json out, String name, long rows, long bytes) {
        out.name(name);
        out.open('{');
        out.name("rows");
        out.raw(Long.valueOf(rows));
        out.name("size_bytes");
        out.raw(Long.valueOf(bytes));
        out.close('}');
    }
}
