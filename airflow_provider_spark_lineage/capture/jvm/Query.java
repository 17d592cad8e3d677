package sparklineage;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;

/** One execution on its way into a record. */
public class Query {
    public final Reader reader;
    public final Object session;
    private final QueryExecution execution;
    private final List problems = new ArrayList();
    private final Set suspects = new LinkedHashSet();
    private boolean incomplete = false;

    public Query(Reader reader, Object session, Object execution) {
        this.reader = reader;
        this.session = session;
        this.execution = (QueryExecution) execution;
    }

    /** Returns a value that Python completes: it knows the SQL of databases, and RDDs. */
    public Map later(String kind, Object value) {
        incomplete = true;
        Map found = new LinkedHashMap();
        found.put("$" + kind, value);
        return found;
    }

    /** Returns a setting of the session; null where it is not set. */
    public Object setting(String name) throws Exception {
        Object conf = Paths.call(session, "conf", new Object[0]);
        scala.Option value = (scala.Option) Paths.call(conf, "getOption", new Object[] {name});
        return value.isEmpty() ? null : value.get();
    }

    /**
     * Returns two lines of JSON: which texts may hold a secret, and whether there are values to complete;
     * and the fields of a record.
     */
    public String read(boolean failed, boolean counted, long limit) {
        Json out = json();
        out.open('{');
        sql(out);
        LogicalPlan analyzed = null;
        try {
            analyzed = execution.analyzed();
        } catch (Throwable error) {
            if (!failed) {
                problem("the plan could not be read", error);
            }
        }
        if (analyzed == null) {
            // The query was not understood, which is the error that Spark reports: it read nothing.
            out.name("plan_kind");
            out.plain(failed ? "none" : "analyzed");
        } else {
            List wanted = plan(out, analyzed, limit);
            boolean asked = facts(out, wanted);
            if (counted && asked) {
                counts(out);
            }
        }
        out.name("problems");
        out.value(problems);
        out.close('}');
        Json about = json();
        about.open('{');
        about.name("suspects");
        about.value(new ArrayList(suspects));
        about.name("incomplete");
        about.raw(String.valueOf(incomplete));
        about.close('}');
        return about + "\n" + out;
    }

    private Json json() {
        return new Json(reader.hint, suspects);
    }

    private void sql(Json out) {
        try {
            scala.Option text = execution.logical().origin().sqlText();
            if (text.isDefined()) {
                out.name("sql");
                out.text((String) text.get());
            }
        } catch (Throwable error) {
            problem("the SQL text could not be read", error);
        }
    }

    /** Writes the analyzed plan, or the optimized one where that is too large; returns the nodes to be asked. */
    private List plan(Json out, LogicalPlan analyzed, long limit) {
        try {
            try {
                return written(out, "analyzed", analyzed, limit);
            } catch (TooLarge error) {
                List wanted = written(out, "optimized", execution.optimizedPlan(), limit);
                String size = "the analyzed plan has more than the limit of " + limit + " bytes";
                problems.add(size + ": the optimized plan was read instead");
                return wanted;
            }
        } catch (TooLarge error) {
            problems.add("the plan has more than the limit of " + limit + " bytes: it was not read");
        } catch (Throwable error) {
            problem("the plan could not be read", error);
        }
        out.name("plan_kind");
        out.plain("none");
        return new ArrayList();
    }

    private List written(Json out, String kind, LogicalPlan plan, long limit) throws Exception {
        Json text = json();
        Plans plans = new Plans(this, text, limit);
        plans.write(plan);
        out.name("plan_kind");
        out.plain(kind);
        out.name("plan");
        out.raw(text);
        return plans.wanted;
    }

    /** Writes what sources want to know of the nodes; says whether there is anything. */
    private boolean facts(Json out, List wanted) {
        out.name("facts");
        out.open('[');
        for (Iterator each = wanted.iterator(); each.hasNext();) {
            Object[] one = (Object[]) each.next();
            String name = (String) one[0];
            try {
                Map told = reader.probe(this, name, one[1], reader.probes);
                told.putAll(reader.foresight.take((LogicalPlan) one[1]));
                out.open('{');
                out.name("node");
                out.plain(name);
                out.name("expr_id");
                out.raw(one[2]);
                out.name("relation");
                out.value(told.get(""));
                told.remove("");
                out.name("probed");
                out.value(told);
                out.close('}');
            } catch (Throwable error) {
                problem("a " + name + " could not be asked where its data lies", error);
            }
        }
        out.close(']');
        return !wanted.isEmpty();
    }

    private void counts(Json out) {
        try {
            Json text = json();
            reader.counts.write(this, text, execution.executedPlan());
            out.name("metrics");
            out.raw(text);
        } catch (Throwable error) {
            problem("row counts could not be read", error);
        }
    }

    /** Notes what was lost, with the first line of the reason. */
    public void problem(String what, Throwable error) {
        String[] lines = String.valueOf(error.getMessage()).trim().split("\n");
        String reason = lines[0].length() > 300 ? lines[0].substring(0, 300) : lines[0];
        String sentence = what + ": " + Plans.simpleName(error.getClass().getName()) + ": " + reason;
        if (!problems.contains(sentence)) {
            problems.add(sentence);
        }
    }
}
