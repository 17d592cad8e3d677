package sparklineage;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.storage.RDDInfo;

/** One execution that Spark has started, with the executions that ran inside it. */
public class Execution {
    public final long id;
    public final long root;
    public final long startedMs;
    public final Execution parent;

    /** Settings that the program had changed in its session by then; null where Spark did not report them. */
    public final scala.collection.Map modified;

    /** Run id of the streaming query that ran it; empty if it is not of a stream. */
    public String streamRun = "";

    /** Spark's short text for the line that called it; or a description that the program set. */
    public String site = "";

    /** Executions that ran inside this one, in the order in which they ended. */
    public final List nested = new ArrayList();

    /** The execution that runs inside this one; null if there is none. */
    public volatile Execution running;

    /** `SparkListenerSQLExecutionEnd`, once it is there. */
    public volatile Object end;

    /** Number of jobs that it started, without those of nested executions. */
    public int jobs = 0;

    /** The last of these jobs. */
    public SparkListenerJobStart lastJob = null;

    /** Stages that ended, and the rows and bytes that their tasks wrote. */
    public int stages = 0;
    public long rows = 0;
    public long bytes = 0;

    /** False if a task failed: Spark adds up what all attempts of a task wrote. */
    public boolean isExact = true;

    public Execution(long id, long root, long startedMs, Execution parent, scala.collection.Map modified) {
        this.id = id;
        this.root = root;
        this.startedMs = startedMs;
        this.parent = parent;
        this.modified = modified;
    }

    /** Returns its query; null if it has not started, or if it has ended and Spark has not said so yet. */
    public QueryExecution query() throws Exception {
        return end == null ? SQLExecution.getQueryExecution(id) : (QueryExecution) Paths.call(end, "qe", new Object[0]);
    }

    /** Returns the analyzed plan; null if the analysis failed, or if a running query has none yet. */
    public LogicalPlan analyzed() {
        try {
            return (LogicalPlan) Computed.read(query(), "analyzed", end == null || failure() != null);
        } catch (Throwable error) {
            return null;
        }
    }

    /** Returns the name that Spark gives the action; empty if it has none, as a batch of a stream, or still runs. */
    public String name() throws Exception {
        if (end == null) {
            return "";
        }
        scala.Option name = (scala.Option) Paths.call(end, "executionName", new Object[0]);
        return name.isDefined() ? (String) name.get() : "";
    }

    /**
     * Returns the id of the RDD that keeps the rows of a checkpoint: the newest one of its last job. It is -1 for
     * other executions, and for a lazy checkpoint, which starts no job.
     */
    public long keptRdd() throws Exception {
        long newest = -1;
        if (lastJob == null || !name().equals("checkpoint") && !name().equals("localCheckpoint")) {
            return newest;
        }
        for (Iterator each = Paths.all(lastJob.stageInfos()).iterator(); each.hasNext();) {
            for (Iterator rdds = Paths.all(((StageInfo) each.next()).rddInfos()).iterator(); rdds.hasNext();) {
                newest = Math.max(newest, ((RDDInfo) rdds.next()).id());
            }
        }
        return newest;
    }

    public Throwable failure() throws Exception {
        if (end == null) {
            return null;
        }
        scala.Option failure = (scala.Option) Paths.call(end, "executionFailure", new Object[0]);
        return failure.isDefined() ? (Throwable) failure.get() : null;
    }

    /** Returns whether it is a batch of `foreachBatch`: the function may run any queries. */
    public boolean isOfFunction() {
        LogicalPlan plan = analyzed();
        if (!isBatch() || plan == null) {
            return false;
        }
        try {
            Object sink = Paths.call(plan, "sink", new Object[0]);
            return sink != null && sink.getClass().getName().contains("ForeachBatchSink");
        } catch (Exception error) {
            return false;
        }
    }

    /** Returns whether it only returned the result of a command, which had an execution of its own. */
    public boolean isResult() {
        try {
            return failure() == null && !name().equals("command") && analyzed() instanceof Command
                && Plans.simpleName(Computed.read(query(), "commandExecuted", end == null)).equals("CommandResult");
        } catch (Throwable error) {
            return false;
        }
    }

    public boolean isBatch() {
        LogicalPlan plan = analyzed();
        return plan != null && Plans.simpleName(plan).startsWith("WriteToMicroBatchDataSource");
    }

    /** Returns whether Spark, not the user, ran the nested executions: they are parts of this one. */
    public boolean runsOthers() {
        return analyzed() instanceof Command || isBatch() && !isOfFunction();
    }

    /**
     * Returns whether a nested execution is a part of this one. A plain write of files runs no other command:
     * a function of `foreachBatch` ran both, by several threads.
     */
    public boolean hasPart(Execution inner) {
        LogicalPlan plan = analyzed();
        boolean isPlain = plan != null && Plans.simpleName(plan).equals("InsertIntoHadoopFsRelationCommand");
        return runsOthers() && !(isPlain && inner.analyzed() instanceof Command);
    }

    /** Returns the executions inside this one or its parts that are not parts: each has a record of its own. */
    public List others() {
        List others = new ArrayList();
        for (Iterator each = nested.iterator(); each.hasNext();) {
            Execution inner = (Execution) each.next();
            if (hasPart(inner)) {
                others.addAll(inner.others());
            } else {
                others.add(inner);
            }
        }
        return others;
    }

    /** Returns its parts that run, the innermost first, as they would end. */
    public List runningParts() {
        List parts = new ArrayList();
        Execution outer = this;
        for (Execution inner = running; inner != null && outer.hasPart(inner); inner = inner.running) {
            parts.add(0, inner);
            outer = inner;
        }
        return parts;
    }

    /** Returns its parts, of any depth, in the order in which they ended. */
    public List parts() {
        List parts = new ArrayList();
        for (Iterator each = nested.iterator(); each.hasNext();) {
            Execution inner = (Execution) each.next();
            if (hasPart(inner)) {
                parts.addAll(inner.parts());
                parts.add(inner);
            }
        }
        return parts;
    }
}
