package sparklineage;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkPlanInfo;
import org.apache.spark.sql.execution.metric.SQLMetricInfo;
import org.apache.spark.util.AccumulatorContext;
import org.apache.spark.util.AccumulatorV2;

/**
 * Writes Spark's SQL metrics: one entry for each physical scan and write.
 *
 * An adaptive plan is read in its final form.
 */
public class Counts {
    private static final String[] OPERATORS = {
        "Scan ", "BatchScan", "Execute ", "AppendData", "Overwrite", "ReplaceData", "WriteDelta", "WriteFiles",
        "InMemoryTableScan",
    };
    private static final String CACHED = "InMemoryTableScan";
    private static final String EXCHANGE = "Exchange";
    private static final String BY_RANGE = "rangepartitioning(";
    private static final String ROWS = "rows";

    private final Map names;
    private final Map namesOfScans;

    /** Accumulators of cached relations that were written: later plans show the same values again. */
    private final Set seen = ConcurrentHashMap.newKeySet();

    /** Both map names of Spark's metrics to those of a record; `namesOfScans` is for BatchScan alone. */
    public Counts(Map names, Map namesOfScans) {
        this.names = names;
        this.namesOfScans = namesOfScans;
    }

    /** Writes counts to `out`, unless it is null, and adds the plan's joins without an equality to `joins`. */
    public void write(Query query, Json out, SparkPlan executed, List joins) {
        if (out != null) {
            out.open('[');
        }
        ArrayDeque waiting = new ArrayDeque();
        waiting.push(new Object[] {SparkPlanInfo.fromSparkPlan(executed), Boolean.FALSE, Boolean.FALSE});
        while (!waiting.isEmpty()) {
            Object[] next = (Object[]) waiting.pop();
            SparkPlanInfo node = (SparkPlanInfo) next[0];
            boolean cached = ((Boolean) next[1]).booleanValue();
            boolean sampled = ((Boolean) next[2]).booleanValue();
            if (Joins.comparesAll(node)) {
                joins.add(Joins.entry(node, query.number(), query.failed()));
            }
            if (out != null && isOperator(node.nodeName())) {
                entry(query, out, node, cached, sampled);
            }
            if (node.nodeName().equals(EXCHANGE)) {
                // Spark runs the nodes below a second time to sample the ranges, down to the next exchange.
                sampled = node.simpleString().indexOf(BY_RANGE) >= 0;
            }
            Boolean sampledBelow = Boolean.valueOf(sampled);
            Boolean below = Boolean.valueOf(cached || node.nodeName().startsWith(CACHED));
            List children = Paths.all(node.children());
            for (int i = children.size() - 1; i >= 0; i--) {
                waiting.push(new Object[] {children.get(i), below, sampledBelow});
            }
        }
        if (out != null) {
            out.close(']');
        }
    }

    private static boolean isOperator(String name) {
        for (int i = 0; i < OPERATORS.length; i++) {
            if (name.startsWith(OPERATORS[i])) {
                return true;
            }
        }
        return false;
    }

    private void entry(Query query, Json out, SparkPlanInfo node, boolean cached, boolean sampled) {
        String name = node.nodeName().trim();
        scala.Option location = node.metadata().get("Location");
        out.open('{');
        out.name("node");
        // The name of a JDBC scan has its query in parentheses.
        out.value(name.indexOf('(') < 0 ? (Object) name : query.later("sql", name));
        if (location.isDefined()) {
            out.name("location");
            out.text(query.reader.texts.location((String) location.get()));
        }
        for (Iterator each = Paths.all(node.metrics()).iterator(); each.hasNext();) {
            SQLMetricInfo metric = (SQLMetricInfo) each.next();
            Object count = names.get(metric.name());
            if (count == null && name.startsWith("BatchScan")) {
                count = namesOfScans.get(metric.name());
            }
            Long id = Long.valueOf(metric.accumulatorId());
            if (count == null || seen.contains(id) || sampled && count.equals(ROWS)) {
                continue;
            }
            scala.Option counter = AccumulatorContext.get(metric.accumulatorId());
            if (counter.isDefined()) {
                out.name((String) count);
                out.value(((AccumulatorV2) counter.get()).value());
                if (cached) {
                    seen.add(id);
                }
            }
        }
        out.close('}');
    }
}
