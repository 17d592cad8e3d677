package sparklineage;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;

/** One execution that Spark has begun, and what ran inside of it. */
public class Execution {
    public final long id;
    public final long root;
    public final long startedMs;
    public final Execution parent;

    /** The executions that began and ended while this one ran, in the order of their ends. */
    public final List nested = new ArrayList();

    /** `SparkListenerSQLExecutionEnd`, once it is there. */
    public Object end;

    /** How many jobs of its own began. */
    public int jobs = 0;

    /** How many stages of its own ended, and what their tasks wrote. */
    public int stages = 0;
    public long rows = 0;
    public long bytes = 0;

    /** False where a task was tried again: Spark adds up what all attempts wrote. */
    public boolean isExact = true;

    public Execution(long id, long root, long startedMs, Execution parent) {
        this.id = id;
        this.root = root;
        this.startedMs = startedMs;
        this.parent = parent;
    }

    public QueryExecution query() throws Exception {
        return (QueryExecution) Paths.call(end, "qe", new Object[0]);
    }

    /** Returns the plan as it was analyzed; null where Spark did not understand it. */
    public LogicalPlan analyzed() {
        try {
            return query().analyzed();
        } catch (Throwable error) {
            return null;
        }
    }

    /** Returns what Spark calls it; empty for what has no name, a batch of a stream for example. */
    public String name() throws Exception {
        scala.Option name = (scala.Option) Paths.call(end, "executionName", new Object[0]);
        return name.isDefined() ? (String) name.get() : "";
    }

    public Throwable failure() throws Exception {
        scala.Option failure = (scala.Option) Paths.call(end, "executionFailure", new Object[0]);
        return failure.isDefined() ? (Throwable) failure.get() : null;
    }

    /** Says whether it is a batch whose rows a function of the program gets, which may run what it likes. */
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

    /** Says whether it only showed the result of a command, which had an execution of its own. */
    public boolean isResult() {
        try {
            return failure() == null && !name().equals("command") && analyzed() instanceof Command
                && query().commandExecuted().getClass().getSimpleName().equals("CommandResult");
        } catch (Throwable error) {
            return false;
        }
    }

    public boolean isBatch() {
        LogicalPlan plan = analyzed();
        return plan != null && plan.getClass().getSimpleName().startsWith("WriteToMicroBatchDataSource");
    }

    /** Says whether what ran inside was run by Spark to do the same work. */
    public boolean runsOthers() {
        return analyzed() instanceof Command || isBatch() && !isOfFunction();
    }

    /** Returns everything that ran inside, however deep, in the order of the ends. */
    public List parts() {
        List found = new ArrayList();
        for (Iterator each = nested.iterator(); each.hasNext();) {
            Execution one = (Execution) each.next();
            found.addAll(one.parts());
            found.add(one);
        }
        return found;
    }
}
