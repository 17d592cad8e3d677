package sparklineage;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.execution.SparkPlanInfo;
import org.apache.spark.sql.execution.metric.SQLMetricInfo;
import org.apache.spark.util.AccumulatorContext;
import org.apache.spark.util.AccumulatorV2;

/** Describes joins of an executed plan that compare every row of one side with every row of the other. */
public class Joins {
    private static final String NESTED_LOOP = "BroadcastNestedLoopJoin";
    private static final String PRODUCT = "CartesianProduct";
    private static final String ROWS = "number of output rows";

    static boolean comparesAll(SparkPlanInfo node) {
        return node.nodeName().equals(NESTED_LOOP) || node.nodeName().equals(PRODUCT);
    }

    /** Returns an entry of a record's `joins`; without rows if the execution failed. */
    static Map entry(SparkPlanInfo node, long execution, boolean isFailed) {
        Map entry = new LinkedHashMap();
        entry.put("node", node.nodeName());
        entry.put("execution", Long.valueOf(execution));
        if (isFailed) {
            return entry;
        }
        put(entry, "rows", rows(node));
        List sides = Paths.all(node.children());
        // A cartesian product reads its sides several times, and their metrics count each time.
        if (node.nodeName().equals(NESTED_LOOP) && sides.size() == 2) {
            put(entry, "left_rows", rowsOf((SparkPlanInfo) sides.get(0)));
            put(entry, "right_rows", rowsOf((SparkPlanInfo) sides.get(1)));
        }
        return entry;
    }

    private static void put(Map entry, String name, Long rows) {
        if (rows != null) {
            entry.put(name, rows);
        }
    }

    /** Returns the rows of the first node with a count, from `node` downwards; null below a node with two sides. */
    private static Long rowsOf(SparkPlanInfo node) {
        SparkPlanInfo next = node;
        while (next != null) {
            Long rows = rows(next);
            if (rows != null) {
                return rows;
            }
            List children = Paths.all(next.children());
            next = children.size() == 1 ? (SparkPlanInfo) children.get(0) : null;
        }
        return null;
    }

    private static Long rows(SparkPlanInfo node) {
        for (Iterator each = Paths.all(node.metrics()).iterator(); each.hasNext();) {
            SQLMetricInfo metric = (SQLMetricInfo) each.next();
            if (metric.name().equals(ROWS)) {
                scala.Option counter = AccumulatorContext.get(metric.accumulatorId());
                Object value = counter.isDefined() ? ((AccumulatorV2) counter.get()).value() : null;
                return value instanceof Long ? (Long) value : null;
            }
        }
        return null;
    }
}
