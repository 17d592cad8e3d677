package sparklineage;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;

/** Writes one query or execution as the fields of a record. */
public class Query {
    /** Actions that return before their query runs. */
    private static final List RUN_LATER = java.util.Arrays.asList(new String[] {"", "rdd", "toLocalIterator"});

    /** Limit of messages, which may have a traceback or a plan; Python removes secrets, then cuts again. */
    private static final int MOST_LETTERS = 20000;
    private static final String UNREAD_PLAN = "unread_plan";

    private static final int MOST_LETTERS_OF_SITE = 2000;

    /** The beginning of a statement that makes a table of a query, after comments; no query begins so. */
    private static final Pattern MAKES_TABLE =
        Pattern.compile("(?:\\s+|--[^\n]*\n|/\\*(?s:.*?)\\*/)*+(?i:CREATE|REPLACE)\\b");

    public final Reader reader;
    public final Object session;

    /** Start and end of the execution, in milliseconds since 1970; null if it has not run. */
    public final Long started;
    public final Long ended;
    private final QueryExecution query;
    private final Execution execution;

    /** It ran when it began to be read: an end in between must not change how it is read. */
    private final boolean runs;
    private final List problems = new ArrayList();
    /** The kind of each problem, by a name of `gaps.kinds`. */
    private final List kinds = new ArrayList();
    private final Set told = new HashSet();
    private final List joins = new ArrayList();
    private final Set suspects = new LinkedHashSet();
    private boolean incomplete = false;

    /** For a query that has not run, or whose execution Spark does not report. */
    public Query(Reader reader, Object session, Object query) {
        this.reader = reader;
        this.session = session;
        this.query = (QueryExecution) query;
        this.execution = null;
        this.runs = false;
        this.started = null;
        this.ended = null;
    }

    /** For an execution that has ended, or that runs. */
    public Query(Reader reader, Execution execution) {
        this(reader, execution, execution.end == null);
    }

    private Query(Reader reader, Execution execution, boolean runs) {
        this.reader = reader;
        this.runs = runs;
        QueryExecution qe = null;
        Long time = null;
        try {
            qe = execution.query();
            time = runs ? null : (Long) Paths.call(execution.end, "time", new Object[0]);
        } catch (Exception error) {
            problem(UNREAD_PLAN, "the plan could not be read", error);
        }
        this.query = qe;
        this.session = qe == null ? null : qe.sparkSession();
        this.execution = execution;
        this.started = Long.valueOf(execution.startedMs);
        this.ended = time;
    }

    /** Returns a placeholder for a value that Python completes: SQL of databases, options, RDDs. */
    public Map later(String kind, Object value) {
        incomplete = true;
        Map placeholder = new LinkedHashMap();
        placeholder.put("$" + kind, value);
        return placeholder;
    }

    /** Returns a setting of the session; null where it is not set. */
    public Object setting(String name) throws Exception {
        return setting(Paths.call(session, "conf", new Object[0]), name);
    }

    /** Returns a setting as it was when the execution started: a program may change it for one statement. */
    public Object settingAtStart(String name) throws Exception {
        if (execution == null || execution.modified == null) {
            return setting(name);
        }
        scala.Option modified = execution.modified.get(name);
        if (modified.isDefined()) {
            return modified.get();
        }
        Object shared = Paths.call(session, "sharedState", new Object[0]);
        return setting(Paths.call(shared, "conf", new Object[0]), name);
    }

    private static Object setting(Object conf, String name) throws Exception {
        scala.Option value = (scala.Option) Paths.call(conf, "getOption", new Object[] {name});
        return value.isEmpty() ? null : value.get();
    }

    /**
     * Returns two lines of JSON: `suspects`, the texts that may hold a secret, and `incomplete`, whether there
     * are placeholders; and fields of a record.
     */
    public String read(long limit) {
        Json out = json();
        out.open('{');
        plan(out, limit, true, new HashSet());
        problems(out);
        out.close('}');
        return about() + "\n" + out;
    }

    /** Returns the same two lines for an execution that has ended; null if another record is about it. */
    public String write(List parts, long limit) {
        if (execution.isOfFunction() || execution.isResult()) {
            return null;
        }
        Json out = json();
        out.open('{');
        try {
            header(out, parts);
        } catch (Throwable error) {
            problem("an execution could not be read", error);
        }
        Set leaves = new HashSet();
        boolean asked = plan(out, limit, failed(), leaves);
        if (!RUN_LATER.contains(name())) {
            counts(out, asked && !failed());
        }
        parts(out, parts, leaves, limit);
        observed(out, parts);
        if (!joins.isEmpty()) {
            out.name("joins");
            out.value(joins);
        }
        problems(out);
        out.close('}');
        return about() + "\n" + out;
    }

    /** Writes what `observe` measured in an execution that succeeded, and in its parts. */
    private void observed(Json out, List parts) {
        if (failed() || RUN_LATER.contains(name())) {
            return;
        }
        Observed observed = new Observed(reader.ours);
        try {
            observed.add(execution);
            for (Iterator each = parts.iterator(); each.hasNext();) {
                observed.add((Execution) each.next());
            }
        } catch (Throwable error) {
            problem("what the program observes could not be read", error);
        }
        observed.write(out);
    }

    /** Returns the same two lines for an execution that runs; null if it needs no record of its beginning. */
    public String writeBeginning(long limit) {
        if (query == null || execution.analyzed() == null || execution.isBatch() || execution.isResult()) {
            return null;
        }
        Json out = json();
        out.open('{');
        id(out);
        Set leaves = new HashSet();
        plan(out, limit, true, leaves);
        // A catalog chooses the place of a new table before Spark writes it, which is an execution inside.
        parts(out, execution.runningParts(), leaves, limit);
        problems(out);
        out.close('}');
        return about() + "\n" + out;
    }

    private void parts(Json out, List parts, Set leaves, long limit) {
        out.name("parts");
        out.open('[');
        for (Iterator each = parts.iterator(); each.hasNext();) {
            part(out, (Execution) each.next(), leaves, limit);
        }
        out.close(']');
    }

    private void id(Json out) {
        out.name("id");
        out.raw(Long.valueOf(execution.id));
        out.name("started_ms");
        out.raw(Long.valueOf(execution.startedMs));
    }

    /** Returns the number of its execution in Spark's user interface. */
    long number() {
        return execution.id;
    }

    private String about() {
        return about(reader.hint, suspects, incomplete);
    }

    public static String about(Pattern hint, Set suspects, boolean incomplete) {
        Json about = new Json(hint, new HashSet());
        about.open('{');
        about.name("suspects");
        about.value(new ArrayList(suspects));
        about.name("incomplete");
        about.raw(String.valueOf(incomplete));
        about.close('}');
        return about.toString();
    }

    private String name() {
        try {
            return execution.isBatch() ? "microBatch" : execution.name();
        } catch (Exception error) {
            return "";
        }
    }

    boolean failed() {
        try {
            return execution != null && execution.failure() != null;
        } catch (Exception error) {
            return false;
        }
    }

    /** Returns whether only what the query has computed may be read: it failed, or its own thread computes. */
    private boolean isFixed() {
        return failed() || isRunning();
    }

    boolean isRunning() {
        return runs;
    }

    private void header(Json out, List parts) throws Exception {
        out.name("name");
        out.plain(name());
        id(out);
        out.name("ended_ms");
        out.raw(Paths.call(execution.end, "time", new Object[0]));
        if (execution.site.length() <= MOST_LETTERS_OF_SITE) {
            out.name("site");
            out.text(execution.site);
        }
        if (!execution.streamRun.isEmpty()) {
            out.name("stream_run");
            out.plain(execution.streamRun);
        }
        if (failed()) {
            out.name("error");
            error(reader.texts, out, execution.failure());
        }
        long jobs = execution.jobs;
        long stages = execution.stages;
        long rows = execution.rows;
        long bytes = execution.bytes;
        boolean isExact = execution.isExact;
        for (Iterator each = parts.iterator(); each.hasNext();) {
            Execution part = (Execution) each.next();
            jobs += part.jobs;
            stages += part.stages;
            rows += part.rows;
            bytes += part.bytes;
            isExact = isExact && part.isExact;
        }
        out.name("jobs");
        out.raw(Long.valueOf(jobs));
        if (execution.keptRdd() >= 0) {
            out.name("kept_rdd");
            out.raw(Long.valueOf(execution.keptRdd()));
        }
        if (stages > 0 && isExact) {
            Jobs.write(out, "written", rows, bytes);
        }
    }

    /** Writes the innermost cause of an error that has an SQLSTATE, or else the innermost. */
    public static void error(Texts texts, Json out, Throwable failure) {
        Throwable best = failure;
        String state = "";
        int depth = 0;
        for (Throwable cause = failure; cause != null && depth < 20; cause = cause.getCause()) {
            String ownState = state(cause);
            if (!ownState.isEmpty() || state.isEmpty()) {
                best = cause;
                state = ownState.isEmpty() ? state : ownState;
            }
            depth += 1;
        }
        String message = texts.message(best);
        out.open('{');
        out.name("class");
        out.plain(best.getClass().getName());
        out.name("message");
        out.text(message.length() > MOST_LETTERS ? message.substring(0, MOST_LETTERS) : message);
        if (!state.isEmpty()) {
            out.name("sql_state");
            out.plain(state);
        }
        out.close('}');
    }

    private static String state(Throwable error) {
        try {
            Object state = Paths.call(error, "getSqlState", new Object[0]);
            return state == null ? "" : state.toString();
        } catch (Exception none) {
            return "";
        }
    }

    /** Writes a nested execution: plan and counts of a write, or the counts of what this execution reads. */
    private void part(Json out, Execution part, Set leaves, long limit) {
        try {
            LogicalPlan plan = part.analyzed();
            if (plan == null) {
                return;
            }
            boolean isWrite = reader.parts.contains(part.name())
                || reader.targets.contains(Plans.simpleName(plan));
            if (!isWrite && (runs || !reads(plan, leaves))) {
                return;
            }
            Query inner = new Query(reader, part, runs);
            Json text = json();
            text.open('{');
            text.name("name");
            text.plain(part.name());
            if (isWrite) {
                inner.plan(text, limit, true, new HashSet());
            }
            if (!runs) {
                inner.counts(text, true);
            }
            text.close('}');
            out.raw(text);
            joins.addAll(inner.joins);
            suspects.addAll(inner.suspects);
            problems.addAll(inner.problems);
            kinds.addAll(inner.kinds);
            incomplete = incomplete || inner.incomplete;
        } catch (Throwable error) {
            problem("a part of an execution could not be read", error);
        }
    }

    /** Returns whether a plan reads relations, and only those that are in `leaves`. */
    private boolean reads(LogicalPlan plan, Set leaves) {
        boolean some = false;
        for (Iterator each = Paths.all(plan.collectLeaves()).iterator(); each.hasNext();) {
            LogicalPlan leaf = (LogicalPlan) each.next();
            String name = Plans.simpleName(leaf);
            if (reader.probes.containsKey(name)) {
                if (!leaves.contains(name + Plans.firstId(leaf))) {
                    return false;
                }
                some = true;
            }
        }
        return some;
    }

    /** Writes SQL text, plan and facts; adds the keys of its leaves; returns whether there are facts. */
    private boolean plan(Json out, long limit, boolean mayBeMissing, Set leaves) {
        // Spark computes some fields when they are first read, by the settings of the active session.
        Object active = activate(session);
        try {
            return described(out, limit, mayBeMissing, leaves);
        } finally {
            activate(active);
        }
    }

    /** Makes a session the active one of this thread, or none if it is null; returns the one that was. */
    private Object activate(Object next) {
        Object active = null;
        try {
            scala.Option before = (scala.Option) Paths.call(session, "getActiveSession", new Object[0]);
            active = before.isDefined() ? before.get() : null;
            if (next == null) {
                Paths.call(session, "clearActiveSession", new Object[0]);
            } else {
                Paths.call(session, "setActiveSession", new Object[] {next});
            }
        } catch (Exception error) {
            // Without its session, the analysis of the query failed.
            if (session != null) {
                problem("the session of a query could not be used", error);
            }
        }
        return active;
    }

    private boolean described(Json out, long limit, boolean mayBeMissing, Set leaves) {
        sql(out);
        LogicalPlan analyzed = null;
        try {
            analyzed = query == null ? null : (LogicalPlan) Computed.read(query, "analyzed", isFixed());
            if (analyzed == null && query != null && !mayBeMissing) {
                lost(UNREAD_PLAN, "the plan could not be read");
            }
        } catch (Throwable error) {
            if (!mayBeMissing) {
                problem(UNREAD_PLAN, "the plan could not be read", error);
            }
        }
        if (analyzed == null) {
            // The analysis failed, and Spark reports that error: the query read nothing.
            out.name("plan_kind");
            out.plain("none");
            return false;
        }
        List wanted = plan(out, analyzed, limit);
        for (Iterator each = wanted.iterator(); each.hasNext();) {
            Object[] node = (Object[]) each.next();
            if (node[2] != null) {
                leaves.add((String) node[0] + node[2]);
            }
        }
        return facts(out, wanted);
    }

    private Json json() {
        return new Json(reader.hint, suspects);
    }

    private void sql(Json out) {
        try {
            String text = statement();
            String shown = text.isEmpty() ? "" : reader.texts.sql(text);
            if (!shown.isEmpty()) {
                out.name("sql");
                out.text(shown);
            }
        } catch (Throwable error) {
            problem("the SQL text could not be read", error);
        }
    }

    /** Returns the text of the statement; empty for an action of a frame. */
    private String statement() {
        LogicalPlan plan = query.logical();
        scala.Option text = plan.origin().sqlText();
        if (text.isDefined()) {
            return (String) text.get();
        }
        // Since Spark 4.3, CREATE TABLE ... AS SELECT runs as a node without the text, which its query still has.
        Iterator inner = Paths.all(plan.innerChildren()).iterator();
        Object first = inner.hasNext() ? inner.next() : null;
        text = first instanceof LogicalPlan ? ((LogicalPlan) first).origin().sqlText() : text;
        boolean makesTable = text.isDefined() && MAKES_TABLE.matcher((String) text.get()).lookingAt();
        return makesTable ? (String) text.get() : "";
    }

    /** Writes the analyzed plan, or the optimized one if that is too large; returns the nodes to probe. */
    private List plan(Json out, LogicalPlan analyzed, long limit) {
        try {
            try {
                return written(out, "analyzed", analyzed, limit);
            } catch (TooLarge error) {
                Object optimized = Computed.read(query, "optimizedPlan", isFixed());
                if (optimized == null) {
                    throw error;
                }
                List wanted = written(out, "optimized", (LogicalPlan) optimized, limit);
                String size = "the analyzed plan has more than the limit of " + limit + " bytes";
                lost("limit_reached", size + ": the optimized plan was read instead");
                return wanted;
            }
        } catch (TooLarge error) {
            lost(UNREAD_PLAN, "the plan has more than the limit of " + limit + " bytes: it was not read");
        } catch (Throwable error) {
            problem(UNREAD_PLAN, "the plan could not be read", error);
        }
        out.name("plan_kind");
        out.plain("none");
        return new ArrayList();
    }

    private List written(Json out, String kind, LogicalPlan plan, long limit) throws Exception {
        Json text = json();
        Plans plans = new Plans(this, text, limit);
        plans.write(plan);
        Json again = json();
        Plans masked = plans.masked(again);
        if (masked != null) {
            masked.write(plan);
            text = again;
            plans = masked;
        }
        out.name("plan_kind");
        out.plain(kind);
        out.name("plan");
        out.raw(text);
        return plans.wanted;
    }

    /** Writes the facts that sources need of the nodes; returns whether there are any nodes. */
    private boolean facts(Json out, List wanted) {
        out.name("facts");
        out.open('[');
        for (Iterator each = wanted.iterator(); each.hasNext();) {
            Object[] node = (Object[]) each.next();
            String name = (String) node[0];
            try {
                Map probed = reader.probe(this, name, node[1], reader.probes);
                probed.putAll(reader.foresight.of((LogicalPlan) node[1], !isRunning()));
                out.open('{');
                out.name("node");
                out.plain(name);
                out.name("expr_id");
                out.raw(node[2]);
                out.name("relation");
                out.value(probed.get(""));
                probed.remove("");
                out.name("probed");
                out.value(probed);
                out.close('}');
            } catch (Throwable error) {
                problem("a " + name + " could not be asked for its location", error);
            }
        }
        out.close(']');
        return !wanted.isEmpty();
    }

    /** Writes row counts, if `wanted`, and looks for joins without an equality. */
    private void counts(Json out, boolean wanted) {
        if (query == null || !wanted && execution.jobs == 0) {
            return;
        }
        try {
            Object executed = Computed.read(query, "executedPlan", failed() || !wanted);
            if (executed == null) {
                return;
            }
            Json text = wanted ? json() : null;
            reader.counts.write(this, text, (SparkPlan) executed, joins);
            if (wanted) {
                out.name("metrics");
                out.raw(text);
            }
        } catch (Throwable error) {
            if (wanted) {
                problem("row counts could not be read", error);
            }
        }
    }

    private void problems(Json out) {
        out.name("problems");
        out.value(problems);
        out.name("problem_kinds");
        out.value(kinds);
    }

    /** Adds a sentence to the problems of the record. */
    public void problem(String what, Throwable error) {
        problem("not_recorded", what, error);
    }

    private void problem(String kind, String what, Throwable error) {
        String sentence = sentence(reader.texts, what, error);
        if (told.add(sentence)) {
            lost(kind, sentence);
        }
    }

    private void lost(String kind, String sentence) {
        problems.add(sentence);
        kinds.add(kind);
    }

    /** Returns `what` was lost with the first line of the reason; Python removes secrets, then cuts it. */
    public static String sentence(Texts texts, String what, Throwable error) {
        String reason = texts.message(error).trim().split("\n")[0];
        String shown = reason.length() > MOST_LETTERS ? reason.substring(0, MOST_LETTERS) : reason;
        String kind = Plans.simpleName(error);
        return what + ": " + kind + (shown.isEmpty() ? "" : ": " + shown);
    }
}
