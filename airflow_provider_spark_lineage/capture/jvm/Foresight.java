package sparklineage;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.CommandExecutionMode;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.internal.SessionState;

/**
 * Asks before a statement runs what nobody can tell afterwards: what it drops, and whether there was something.
 *
 * Spark reports a command when the catalog has forgotten what it dropped.
 */
public class Foresight {
    private static final int MOST_STATEMENTS = 100;
    private static final int MOST_TABLES = 200;

    /**
     * What is asked about, as the parser reads it. To analyze anything else may be to run it: EXECUTE IMMEDIATE,
     * scripts and calls of procedures do their work when they are analyzed.
     */
    private static final Set ASKED = new HashSet(java.util.Arrays.asList(new String[] {
        "CreateTable", "CreateView", "DropNamespace", "DropTable", "DropView", "ReplaceTable", "ReplaceTableAsSelect",
    }));

    private final Reader reader;

    /** What was asked of statements that were not reported yet: an Object[] of what tells one, and its facts. */
    private final LinkedList known = new LinkedList();

    public Foresight(Reader reader) {
        this.reader = reader;
    }

    /** Asks about a statement; one that Spark does not understand says so itself when it runs. */
    public void ask(Object session, String text) {
        try {
            QueryExecution execution = analyzed(session, text);
            if (execution == null) {
                return;
            }
            LogicalPlan plan = execution.analyzed();
            String name = Plans.simpleName(plan.getClass().getName());
            Query query = new Query(reader, session, execution);
            Map facts = null;
            if (reader.before.containsKey(name)) {
                facts = reader.probe(query, name, plan, reader.before);
            } else if (name.equals("DropNamespace") || name.equals("DropDatabaseCommand")) {
                facts = tables(query, session, name, plan);
            }
            if (facts != null) {
                synchronized (known) {
                    known.add(new Object[] {key(plan), facts});
                    while (known.size() > MOST_STATEMENTS) {
                        known.removeFirst();
                    }
                }
            }
        } catch (Throwable error) {
            // A statement that is wrong says so itself when it runs; of others less is known.
        }
    }

    /** Returns what was asked before a command ran, by the plan that it has again; empty if nothing was. */
    public Map take(LogicalPlan plan) {
        synchronized (known) {
            String text = known.isEmpty() ? "" : key(plan);
            for (Iterator each = known.iterator(); each.hasNext();) {
                Object[] one = (Object[]) each.next();
                if (one[0].equals(text)) {
                    each.remove();
                    return (Map) one[1];
                }
            }
        }
        return new LinkedHashMap();
    }

    /** Forgets everything that was asked: for a command that is not asked about, less is said. */
    public void forget() {
        synchronized (known) {
            known.clear();
        }
    }

    /** Returns what tells a command from others: its text without the ids of columns, which are new each time. */
    private static String key(LogicalPlan plan) {
        return plan.toString().replaceAll("#\\d+", "");
    }

    /** Returns a statement as Spark understands it, without running it; null for one that is not asked about. */
    private static QueryExecution analyzed(Object session, String text) throws Exception {
        SessionState state = (SessionState) Paths.call(session, "sessionState", new Object[0]);
        LogicalPlan parsed = state.sqlParser().parsePlan(text);
        boolean asked = ASKED.contains(Plans.simpleName(parsed.getClass().getName()));
        return asked ? state.executePlan(parsed, CommandExecutionMode.SKIP()) : null;
    }

    /** Returns the facts of every table in a database that is about to be dropped with all that it holds. */
    private Map tables(Query query, Object session, String name, LogicalPlan plan) throws Exception {
        Paths paths = new Paths(query, plan);
        List found = new ArrayList();
        Map facts = new LinkedHashMap();
        if (!Boolean.TRUE.equals(paths.follow("cascade"))) {
            return facts;
        }
        boolean isOfSession = name.equals("DropDatabaseCommand");
        Object listed;
        Object folder = null;
        if (isOfSession) {
            listed = paths.follow("$session.sessionState.catalog.listTables(databaseName)");
            folder = paths.follow("$session.sessionState.catalog.getDatabaseMetadata(databaseName).locationUri");
        } else {
            Object catalog = paths.follow("child.catalog");
            Object[] namespace = {Paths.all(paths.follow("child.namespace")).toArray(new String[0])};
            listed = Paths.call(catalog, "listTables", namespace);
            Object about = Paths.call(catalog, "loadNamespaceMetadata", namespace);
            folder = about == null ? null : ((Map) about).get("location");
        }
        if (listed == null) {
            // There is no such database.
            facts.put("tables", found);
            return facts;
        }
        List names = Paths.all(listed);
        for (Iterator each = names.iterator(); each.hasNext() && found.size() < MOST_TABLES;) {
            Object table = each.next();
            String quoted = isOfSession
                ? (String) Paths.call(table, "quotedString", new Object[0])
                : quoted(paths, table);
            QueryExecution drop = analyzed(session, "DROP TABLE " + quoted);
            LogicalPlan dropping = drop.analyzed();
            String node = Plans.simpleName(dropping.getClass().getName());
            Map one = reader.probe(query, node, dropping, reader.probes);
            one.putAll(reader.probe(query, node, dropping, reader.before));
            one.remove("");
            found.add(one);
        }
        facts.put("tables", found);
        if (folder != null) {
            facts.put("database_location", folder.toString());
        }
        facts.put("unasked", Integer.valueOf(names.size() - found.size()));
        return facts;
    }

    private static String quoted(Paths paths, Object identifier) throws Exception {
        StringBuilder text = new StringBuilder("`").append(paths.follow("child.catalog.name")).append('`');
        List parts = Paths.all(Paths.call(identifier, "namespace", new Object[0]));
        parts.add(Paths.call(identifier, "name", new Object[0]));
        for (Iterator each = parts.iterator(); each.hasNext();) {
            text.append(".`").append(each.next().toString().replace("`", "``")).append('`');
        }
        return text.toString();
    }
}
