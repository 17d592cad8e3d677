package sparklineage;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** Reads the executions of one application; made and called by Python, by `capture.jvm`. */
public class Reader {
    /** Simple class name of a plan node -> its probes in order of precedence, each a map as Python wrote it. */
    public final Map probes;
    /** The same for facts read before a statement runs. */
    public final Map before;
    public final Patterns patterns = new Patterns();
    public final Foresight foresight = new Foresight(this);
    public final Set targets = new HashSet();
    public final Set options;

    /** Names of nested executions that do the work of a command. */
    public final Set parts;
    public final Pattern hint;
    public final Texts texts;
    public final Map settings = new ConcurrentHashMap();
    public final Counts counts;

    /** Beginning of the names of observations that are checks. */
    public final String ours;

    /** Local property with the number of the call over an RDD that started a job. */
    public final String call;

    /** Folders that were looked at after the first write into them: whose oldest files, or (`/*`) what is in them. */
    public final Set added = ConcurrentHashMap.newKeySet();
    private final Map kept = new ConcurrentHashMap();
    private final AtomicLong number = new AtomicLong();

    public Reader(String config) throws Exception {
        Map given = (Map) new ObjectMapper().readValue(config, Map.class);
        probes = (Map) given.get("probes");
        before = (Map) given.get("before");
        options = new HashSet((List) given.get("options"));
        parts = new HashSet((List) given.get("parts"));
        hint = Pattern.compile((String) given.get("hint"));
        texts = new Texts((String) given.get("sql_text"));
        call = (String) given.get("call");
        ours = (String) given.get("ours");
        counts = new Counts((Map) given.get("counts"), (Map) given.get("counts_of_scans"));
        for (Iterator each = probes.entrySet().iterator(); each.hasNext();) {
            Map.Entry entry = (Map.Entry) each.next();
            for (Iterator some = ((List) entry.getValue()).iterator(); some.hasNext();) {
                if (Boolean.TRUE.equals(((Map) some.next()).get("target"))) {
                    targets.add(entry.getKey());
                }
            }
        }
    }

    /** Returns a new listener for an application; the caller registers it. */
    public Listener listener(SparkContext context, long limit) {
        return new Listener(this, context, limit);
    }

    public String read(Object session, Object query, long limit) {
        return new Query(this, session, query).read(limit);
    }

    /** Returns a value that a query has computed, by its method; null if it failed or is not computed. */
    public Object computed(Object query, String name) throws Exception {
        return Computed.read(query, name, true);
    }

    /** Returns class and message of an error, in two lines as `read` does. */
    public String error(Throwable error) {
        Set suspects = new LinkedHashSet();
        Json out = new Json(hint, suspects);
        Query.error(texts, out, error);
        return Query.about(hint, suspects, false) + "\n" + out;
    }

    public void foresee(Object session, String text) {
        foresight.ask(session, text);
    }

    /** Notes the patterns, a list in JSON, of the relation that a read of several paths returned. */
    public void notePatterns(LogicalPlan read, String listed) throws Exception {
        for (Iterator each = Paths.all(read.collectLeaves()).iterator(); each.hasNext();) {
            Object relation = Paths.call(each.next(), "relation", new Object[0]);
            Object index = relation == null ? null : Paths.call(relation, "location", new Object[0]);
            if (index != null) {
                patterns.note(index, (List) new ObjectMapper().readValue(listed, List.class));
            }
        }
    }

    /** Keeps an object until Python asks for it by the number returned. */
    public Long keep(Object live) {
        Long key = Long.valueOf(number.incrementAndGet());
        kept.put(key, live);
        return key;
    }

    public Object take(long key) {
        return kept.remove(Long.valueOf(key));
    }

    /** Returns whether a node meets the condition `when` of one of its probes. */
    public boolean asks(String name, Object node) {
        for (Iterator each = ((List) probes.get(name)).iterator(); each.hasNext();) {
            List when = (List) ((Map) each.next()).get("when");
            if (when.isEmpty() || is((String) when.get(1), node, (String) when.get(0))) {
                return true;
            }
        }
        return false;
    }

    private static boolean is(String wanted, Object node, String field) {
        try {
            Object value = Paths.call(node, field, new Object[0]);
            return value == null || Plans.simpleName(value).equals(wanted);
        } catch (Exception error) {
            return true;
        }
    }

    /** Returns the facts of the first probe that matches a node, and its relation's class under an empty name. */
    public Map probe(Query query, String name, Object node, Map asking) throws Exception {
        Map facts = new LinkedHashMap();
        Paths paths = new Paths(query, node);
        String relation = "";
        for (Iterator each = ((List) asking.get(name)).iterator(); each.hasNext();) {
            Map probe = (Map) each.next();
            String wanted = (String) probe.get("relation");
            if (!wanted.isEmpty()) {
                Object holder = paths.follow((String) probe.get("of"));
                relation = holder == null ? "" : Plans.simpleName(holder);
                if (!wanted.equals("*") && !wanted.equals(relation)) {
                    continue;
                }
            }
            for (Iterator asked = ((Map) probe.get("accessors")).entrySet().iterator(); asked.hasNext();) {
                Map.Entry fact = (Map.Entry) asked.next();
                try {
                    Object value = paths.value((String) fact.getValue());
                    if (value != null) {
                        facts.put(fact.getKey(), value);
                    }
                } catch (Throwable error) {
                    query.problem("the " + fact.getKey() + " of a " + name + " could not be read", error);
                }
            }
            break;
        }
        facts.put("", relation);
        return facts;
    }
}
