package sparklineage;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;

/**
 * Follows the accessor paths of `sources/` through live objects; results of steps are cached for each node.
 *
 * The language of paths is described in `sources/probe.py`.
 */
public class Paths {
    /** Parts of Spark's messages about objects that were dropped before its command was reported. */
    private static final String[] GONE = {
        "does not exist", "TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "NoSuchTableException",
    };
    private static final Pattern SETTING = Pattern.compile("\\$conf\\(([^{}]*)\\{([^{}]*)\\}([^{}]*)\\)");
    private static final Map METHODS = new ConcurrentHashMap();
    private static final Map STEPS = new ConcurrentHashMap();

    private final Query query;
    private final Map reached = new HashMap();

    public Paths(Query query, Object node) {
        this.query = query;
        reached.put("", node);
        reached.put("$session", query.session);
        reached.put("$started", query.started);
        reached.put("$ended", query.ended);
    }

    /** Returns the value of a path as JSON has it, or a placeholder for Python to complete; may be null. */
    public Object value(String path) throws Exception {
        if (!path.startsWith("$session.sparkContext.") && !path.equals("$session.sessionState.conf.warehousePath")) {
            return plain(path);
        }
        // These are the same for all plans of the application.
        Map settings = query.reader.settings;
        if (!settings.containsKey(path)) {
            Object value = plain(path);
            settings.put(path, value == null ? (Object) "" : value);
        }
        return "".equals(settings.get(path)) ? null : settings.get(path);
    }

    private Object plain(String path) throws Exception {
        Matcher setting = SETTING.matcher(path);
        if (setting.matches()) {
            Object name = follow(setting.group(2));
            return name == null ? null : query.setting(setting.group(1) + name + setting.group(3));
        }
        if (path.startsWith("$setting(")) {
            return query.settingAtStart(path.substring("$setting(".length(), path.length() - 1));
        }
        if (path.startsWith("$patterns(")) {
            return patterns(((Step) steps(path).get(0)).arguments);
        }
        Object target = follow(path);
        if (target == null) {
            return null;
        }
        if (path.startsWith("$sample(")) {
            return texts(Patterns.sample(target));
        }
        if (path.startsWith("$files_among(")) {
            Object files = follow((String) ((Step) steps(path).get(0)).arguments.get(1));
            return files == null ? null : Patterns.areFiles(Patterns.sample(target), files);
        }
        if (path.startsWith("$files(")) {
            return query.later("rdd", query.reader.keep(target));
        }
        if (path.startsWith("$exists(")) {
            return files().exists(target);
        }
        if (path.startsWith("$options(")) {
            return options(target);
        }
        if (path.startsWith("$modified(")) {
            return files().modified(target, argument(path, 1));
        }
        // A failed write left nothing, so the next one may still be the first. One that runs is asked at its end.
        boolean hasWritten = !query.failed() && !query.isRunning();
        if (path.startsWith("$oldest_write(")) {
            boolean keepsFiles = "Append".equals(String.valueOf(argument(path, 1)))
                || Boolean.TRUE.equals(argument(path, 2));
            boolean isFirst = keepsFiles && hasWritten && query.reader.added.add(target.toString());
            return isFirst ? files().oldestWrite(target, query.started) : null;
        }
        if (path.startsWith("$alone_in(")) {
            String around = target.toString().replaceFirst("/[^/]*$", "/*");
            boolean isFirst = hasWritten && StoredFiles.isInner(target) && query.reader.added.add(around);
            return isFirst ? files().aloneIn(target) : null;
        }
        if (path.startsWith("$sql(")) {
            Object url = argument(path, 1);
            Map text = query.later("sql", isMany(target) ? (Object) texts(target) : String.valueOf(target));
            text.put("url", url == null ? null : url.toString());
            return text;
        }
        if (path.endsWith("[]")) {
            return texts(target);
        }
        if (path.endsWith("chema.json")) {
            return Schemas.plain((String) target);
        }
        return target instanceof Boolean || target instanceof Number ? target : target.toString();
    }

    /** Returns the object at the end of a path; null for an empty Option or a missing member. */
    public Object follow(String path) throws Exception {
        Object current = reached.get("");
        String prefix = "";
        boolean many = false;
        List steps = steps(path);
        for (int i = 0; i < steps.size(); i++) {
            Step step = (Step) steps.get(i);
            if (step.isWhole()) {
                return follow((String) step.arguments.get(0));
            }
            prefix = prefix.isEmpty() ? step.written : prefix + "." + step.written;
            if (!reached.containsKey(prefix)) {
                reached.put(prefix, many ? each(current, step) : take(current, step));
            }
            current = reached.get(prefix);
            many = many || step.shape.equals("[]");
            if (current == null) {
                return null;
            }
        }
        return current;
    }

    /** Returns the patterns among one or more paths; without a path, in a reference in SQL, or noted of an index. */
    private List patterns(List paths) throws Exception {
        Object given = follow((String) paths.get(0));
        if (given != null) {
            return Patterns.among(given instanceof String ? Collections.singletonList(given) : all(given));
        }
        Object reference = paths.size() > 1 ? follow((String) paths.get(1)) : null;
        List inSql = reference == null ? null : Patterns.inSql((String) reference);
        Object index = paths.size() > 2 && inSql == null ? follow((String) paths.get(2)) : null;
        return index == null ? inSql : query.reader.patterns.noted(index);
    }

    private Object each(Object many, Step step) throws Exception {
        List results = new ArrayList();
        for (Iterator each = all(many).iterator(); each.hasNext();) {
            results.add(take(each.next(), step));
        }
        return results;
    }

    private Object take(Object holder, Step step) throws Exception {
        Object[] values = new Object[step.arguments.size()];
        for (int i = 0; i < values.length; i++) {
            String argument = (String) step.arguments.get(i);
            values[i] = argument.startsWith("'") ? argument.substring(1, argument.length() - 1) : follow(argument);
            if (values[i] == null) {
                return null;
            }
        }
        if (step.name.equals("$object")) {
            return holder.getClass().getClassLoader().loadClass(values[0] + "$").getField("MODULE$").get(null);
        }
        if (step.name.equals("$during")) {
            return during((List) holder, (String) values[0]);
        }
        Object result = step.shape.equals("!") ? field(holder, step.name) : call(holder, step.name, values);
        if (result instanceof scala.Option && step.shape.equals("?")) {
            return ((scala.Option) result).isEmpty() ? null : ((scala.Option) result).get();
        }
        return result;
    }

    /** Returns the last item whose time is within the execution; `many` are in the order of time. */
    private Object during(List many, String time) throws Exception {
        Object last = null;
        for (Iterator each = many.iterator(); query.ended != null && each.hasNext();) {
            Object item = each.next();
            long at = ((Long) call(item, time, new Object[0])).longValue();
            boolean within = query.started.longValue() <= at && at <= query.ended.longValue();
            last = within ? item : last;
        }
        return last;
    }

    /** Calls a method; null if this version of the class does not have it, or its table was dropped. */
    public static Object call(Object holder, String name, Object[] values) throws Exception {
        Method method = method(holder.getClass(), name, values);
        if (method == null) {
            return null;
        }
        try {
            return method.invoke(holder, values);
        } catch (InvocationTargetException error) {
            String words = String.valueOf(error.getCause());
            for (int i = 0; i < GONE.length; i++) {
                if (words.contains(GONE[i])) {
                    return null;
                }
            }
            throw new RuntimeException(words, error.getCause());
        }
    }

    private static Method method(Class kind, String name, Object[] values) {
        StringBuilder key = new StringBuilder(kind.getName()).append(System.identityHashCode(kind)).append(name);
        for (int i = 0; i < values.length; i++) {
            key.append('/').append(values[i].getClass().getName());
        }
        Object method = METHODS.get(key.toString());
        if (method == null) {
            method = search(kind, name, values);
            METHODS.put(key.toString(), method == null ? (Object) "" : method);
        }
        return method instanceof Method ? (Method) method : null;
    }

    private static Method search(Class kind, String name, Object[] values) {
        Method[] methods = kind.getMethods();
        Method method = null;
        for (int i = 0; i < methods.length; i++) {
            if (methods[i].getName().equals(name) && accepts(methods[i].getParameterTypes(), values)) {
                method = method == null || method.isBridge() ? methods[i] : method;
            }
        }
        if (method != null) {
            try {
                method.setAccessible(true);
            } catch (RuntimeException error) {
                // The class is not accessible: look for the method in its interfaces and superclass.
                Class[] shown = kind.getInterfaces();
                for (int i = 0; i < shown.length; i++) {
                    Method shownMethod = search(shown[i], name, values);
                    if (shownMethod != null) {
                        return shownMethod;
                    }
                }
                return kind.getSuperclass() == null ? null : search(kind.getSuperclass(), name, values);
            }
        }
        return method;
    }

    private static boolean accepts(Class[] types, Object[] values) {
        if (types.length != values.length) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            boolean boxed = types[i] == int.class && values[i] instanceof Integer
                || types[i] == long.class && values[i] instanceof Long
                || types[i] == boolean.class && values[i] instanceof Boolean;
            if (!boxed && !types[i].isInstance(values[i])) {
                return false;
            }
        }
        return true;
    }

    private static Object field(Object holder, String name) throws Exception {
        try {
            Field field = holder.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return field.get(holder);
        } catch (NoSuchFieldException error) {
            return null;
        }
    }

    private static boolean isMany(Object value) {
        return value instanceof Collection || value instanceof scala.collection.Iterable
            || value.getClass().isArray();
    }

    /** Returns the members of an array or of a Java or Scala collection. */
    public static List all(Object many) {
        List members = new ArrayList();
        if (many.getClass().isArray()) {
            for (int i = 0; i < Array.getLength(many); i++) {
                members.add(Array.get(many, i));
            }
        } else if (many instanceof Collection) {
            members.addAll((Collection) many);
        } else {
            scala.collection.Iterator each = ((scala.collection.Iterable) many).iterator();
            while (each.hasNext()) {
                members.add(each.next());
            }
        }
        return members;
    }

    private static List texts(Object many) {
        List texts = new ArrayList();
        for (Iterator each = all(many).iterator(); each.hasNext();) {
            Object item = each.next();
            if (item != null) {
                texts.add(item.toString());
            }
        }
        return texts;
    }

    /** Returns an argument of a path's only step: a text, or the value of a path; null if there is none. */
    private Object argument(String path, int position) throws Exception {
        List arguments = ((Step) steps(path).get(0)).arguments;
        String argument = arguments.size() > position ? (String) arguments.get(position) : "";
        if (argument.startsWith("'")) {
            return argument.substring(1, argument.length() - 1);
        }
        return argument.isEmpty() ? null : follow(argument);
    }

    private StoredFiles files() throws Exception {
        return new StoredFiles((Configuration) follow("$session.sessionState.newHadoopConf"));
    }

    /** Returns the options that sources need, with names in lower case. */
    private Object options(Object map) throws Exception {
        Map wanted = new LinkedHashMap();
        if (map instanceof Map) {
            for (Iterator each = ((Map) map).entrySet().iterator(); each.hasNext();) {
                Map.Entry entry = (Map.Entry) each.next();
                option(wanted, entry.getKey(), entry.getValue());
            }
        } else {
            for (Iterator each = all(map).iterator(); each.hasNext();) {
                scala.Tuple2 entry = (scala.Tuple2) each.next();
                option(wanted, entry._1(), entry._2());
            }
        }
        boolean asks = wanted.containsKey("dbtable") || wanted.containsKey("query");
        return asks ? query.later("options", wanted) : wanted;
    }

    private void option(Map wanted, Object name, Object value) {
        String key = String.valueOf(name).toLowerCase(java.util.Locale.ROOT);
        if (query.reader.options.contains(key)) {
            wanted.put(key, String.valueOf(value));
        }
    }

    private static List steps(String path) {
        Object known = STEPS.get(path);
        if (known == null) {
            List steps = new ArrayList();
            for (Iterator each = split(path, '.').iterator(); each.hasNext();) {
                steps.add(new Step((String) each.next()));
            }
            STEPS.put(path, steps);
            known = steps;
        }
        return (List) known;
    }

    /** Splits a text at separators outside of parentheses. */
    public static List split(String text, char separator) {
        List parts = new ArrayList();
        StringBuilder part = new StringBuilder();
        int depth = 0;
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            depth += letter == '(' ? 1 : letter == ')' ? -1 : 0;
            if (letter == separator && depth == 0) {
                parts.add(part.toString());
                part.setLength(0);
            } else if (letter != ' ') {
                part.append(letter);
            }
        }
        if (part.length() > 0) {
            parts.add(part.toString());
        }
        return parts;
    }
}
