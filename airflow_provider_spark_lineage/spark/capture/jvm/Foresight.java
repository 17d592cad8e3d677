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
 * Reads, before a statement runs, the tables that it drops, and whether those that it creates exist.
 *
 * When Spark reports a DROP, the catalog does not know the table any more.
 */
public class Foresight {
    private static final int MOST_STATEMENTS = 100;
    private static final int MOST_TABLES = 200;

    /**
     * Parsed plans that are analyzed here. Others must not be: EXECUTE IMMEDIATE, scripts and calls of
     * procedures run when they are analyzed.
     */
    private static final Set ASKED = new HashSet(java.util.Arrays.asList(new String[] {
        "CreateTable", "CreateView", "DropNamespace", "DropTable", "DropView", "ReplaceTable", "ReplaceTableAsSelect",
    }));

    private final Reader reader;

    /** Facts of statements that Spark has not reported yet: an Object[] of key and facts each. */
    private final LinkedList known = new LinkedList();

    public Foresight(Reader reader) {
        this.reader = reader;
    }

    /** Reads the facts of a statement; an error in it is ignored, and raised when it runs. */
    public void ask(Object session, String text) {
        try {
            QueryExecution execution = analyzed(session, text);
            if (execution == null) {
                return;
            }
            LogicalPlan plan = execution.analyzed();
            String name = Plans.simpleName(plan);
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
            // A wrong statement fails when it runs; for others these facts are missing.
        }
    }

    /** Returns the facts of a command, found by its plan, and may forget them; empty if there are none. */
    public Map of(LogicalPlan plan, boolean forget) {
        synchronized (known) {
            String text = known.isEmpty() ? "" : key(plan);
            for (Iterator each = known.iterator(); each.hasNext();) {
                Object[] statement = (Object[]) each.next();
                if (statement[0].equals(text)) {
                    if (forget) {
                        each.remove();
                    }
                    return (Map) statement[1];
                }
            }
        }
        return new LinkedHashMap();
    }

    /** Forgets all facts: those of a lost execution must not be used for a later one with the same plan. */
    public void forget() {
        synchronized (known) {
            known.clear();
        }
    }

    /** Returns the key of a command: its text without expression ids, which differ each time it is analyzed. */
    private static String key(LogicalPlan plan) {
        return plan.toString().replaceAll("#\\d+", "");
    }

    /** Returns an analyzed statement, without running it; null if it is not among `ASKED`. */
    private static QueryExecution analyzed(Object session, String text) throws Exception {
        SessionState state = (SessionState) Paths.call(session, "sessionState", new Object[0]);
        LogicalPlan parsed = state.sqlParser().parsePlan(text);
        boolean asked = ASKED.contains(Plans.simpleName(parsed));
        return asked ? state.executePlan(parsed, CommandExecutionMode.SKIP()) : null;
    }

    /** Returns the facts of every table in a database that is about to be dropped with CASCADE. */
    private Map tables(Query query, Object session, String name, LogicalPlan plan) throws Exception {
        Paths paths = new Paths(query, plan);
        List tables = new ArrayList();
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
            // The database does not exist.
            facts.put("tables", tables);
            return facts;
        }
        List names = new ArrayList();
        for (Iterator each = Paths.all(listed).iterator(); each.hasNext();) {
            Object table = each.next();
            Object of = Paths.call(table, isOfSession ? "database" : "namespace", new Object[0]);
            // Spark lists temporary views too, which are in no database.
            if (isOfSession ? ((scala.Option) of).isDefined() : !Paths.all(of).isEmpty()) {
                names.add(table);
            }
        }
        for (Iterator each = names.iterator(); each.hasNext() && tables.size() < MOST_TABLES;) {
            Object table = each.next();
            String quoted = isOfSession
                ? (String) Paths.call(table, "quotedString", new Object[0])
                : quoted(paths, table);
            QueryExecution drop = analyzed(session, "DROP TABLE " + quoted);
            LogicalPlan dropping = drop.analyzed();
            String node = Plans.simpleName(dropping);
            Map dropped = reader.probe(query, node, dropping, reader.probes);
            dropped.putAll(reader.probe(query, node, dropping, reader.before));
            dropped.remove("");
            tables.add(dropped);
        }
        facts.put("tables", tables);
        if (folder != null) {
            facts.put("database_location", folder.toString());
        }
        facts.put("unasked", Integer.valueOf(names.size() - tables.size()));
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
