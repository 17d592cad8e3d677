package sparklineage;

import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkPlanInfo;

/** What `observe` measured in one execution and its parts, and which of it Spark may have counted wrongly. */
public class Observed {
    private static final String NODE = "CollectMetrics";
    private static final String CACHED = "InMemoryTableScan";
    private static final String EXCHANGE = "Exchange";
    private static final String BY_RANGE = "rangepartitioning(";
    private static final String SORT = "sort";
    private static final String LIMIT = "limit";
    private static final String RETRY = "retry";
    private static final Object NOTHING = new Object();

    /** Other names may be texts of Spark, which have the literals of an expression. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]+");

    /** Beginning of the names of our own checks; only these keep texts, which are compared. */
    private final String ours;
    private final Map measured = new LinkedHashMap();
    private final Map miscounted = new LinkedHashMap();

    public Observed(String ours) {
        this.ours = ours;
    }

    /** Adds what an execution that succeeded has measured. */
    public void add(Execution execution) throws Exception {
        QueryExecution query = execution.failure() == null ? execution.query() : null;
        Object executed = query == null ? null : Computed.read(query, "executedPlan", true);
        Object metrics = executed == null ? null : Paths.call(query, "observedMetrics", new Object[0]);
        if (metrics == null) {
            return;
        }
        Set added = new HashSet();
        for (Iterator each = Paths.all(metrics).iterator(); each.hasNext();) {
            scala.Tuple2 entry = (scala.Tuple2) each.next();
            String name = (String) entry._1();
            if (NAME.matcher(name).matches()) {
                measured.put(name, values((Row) entry._2(), name.startsWith(ours)));
                added.add(name);
                if (!execution.isExact) {
                    miscounted.put(name, RETRY);
                }
            }
        }
        if (!added.isEmpty()) {
            look(SparkPlanInfo.fromSparkPlan((SparkPlan) executed), added);
        }
    }

    /** Writes both fields of a record, if there is anything. */
    public void write(Json out) {
        if (!measured.isEmpty()) {
            out.name("observed");
            out.value(measured);
        }
        if (!miscounted.isEmpty()) {
            out.name("miscounted");
            out.value(miscounted);
        }
    }

    private static Map values(Row row, boolean isOurs) {
        Map values = new LinkedHashMap();
        String[] names = row.schema().fieldNames();
        for (int i = 0; i < names.length; i++) {
            Object value = plain(row.get(i), isOurs);
            if (value != NOTHING && NAME.matcher(names[i]).matches()) {
                values.put(names[i], value);
            }
        }
        return values;
    }

    /** Returns a value as JSON has it: texts of Python's `records.observed` for what has no form of its own. */
    private static Object plain(Object value, boolean isOurs) {
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            boolean isFinite = !Double.isNaN(number) && !Double.isInfinite(number);
            return isFinite ? value : typed("double", value);
        }
        if (value == null || value instanceof Boolean || value instanceof Long || value instanceof Integer
                || value instanceof Short || value instanceof Byte) {
            return value;
        }
        if (value instanceof BigDecimal) {
            return typed("decimal", ((BigDecimal) value).toPlainString());
        }
        if (value instanceof java.sql.Date || value instanceof LocalDate) {
            return typed("date", value);
        }
        if (value instanceof Timestamp) {
            return typed("timestamp", ((Timestamp) value).toInstant());
        }
        if (value instanceof Instant) {
            return typed("timestamp", value);
        }
        if (value instanceof LocalDateTime) {
            return typed("timestamp_ntz", value);
        }
        return isOurs && value instanceof String ? value : NOTHING;
    }

    private static Map typed(String type, Object value) {
        return Collections.singletonMap(type, value.toString());
    }

    /**
     * Notes the observations whose rows Spark did not count once each: below a limit, which stops early, and
     * below an exchange by range, where Spark runs the nodes down to the next exchange once more for a sample.
     */
    private void look(SparkPlanInfo root, Set names) {
        ArrayDeque waiting = new ArrayDeque();
        waiting.push(new Object[] {root, Boolean.FALSE, Boolean.FALSE});
        while (!waiting.isEmpty()) {
            Object[] next = (Object[]) waiting.pop();
            SparkPlanInfo node = (SparkPlanInfo) next[0];
            boolean sampled = ((Boolean) next[1]).booleanValue();
            boolean limited = ((Boolean) next[2]).booleanValue();
            String kind = node.nodeName();
            if (kind.equals(NODE)) {
                String name = node.simpleString().substring(NODE.length()).trim().split(",")[0];
                if (names.contains(name) && (limited || sampled)) {
                    miscounted.put(name, limited ? LIMIT : SORT);
                }
            } else if (kind.equals(EXCHANGE)) {
                sampled = node.simpleString().indexOf(BY_RANGE) >= 0;
            } else if (kind.startsWith(CACHED)) {
                // The rows below ran once, to fill the cache.
                sampled = false;
            }
            limited = limited || kind.indexOf("Limit") >= 0 || kind.startsWith("TakeOrdered")
                || kind.startsWith("CollectTail");
            List children = Paths.all(node.children());
            for (int i = children.size() - 1; i >= 0; i--) {
                waiting.push(new Object[] {children.get(i), Boolean.valueOf(sampled), Boolean.valueOf(limited)});
            }
        }
    }
}
