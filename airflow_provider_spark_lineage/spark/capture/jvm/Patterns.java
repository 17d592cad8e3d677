package sparklineage;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Paths of a read: the ones with Hadoop's wildcards, and a limited number of the ones that they match. */
public class Patterns {
    /** Limits of what is written down of one read. */
    private static final int MOST_PATHS = 1000;
    private static final int MOST_PATTERNS = 50;
    private static final int MOST_LETTERS = 2000;

    /** A letter after a backslash, or the first letter of a wildcard. */
    private static final Pattern LETTER = Pattern.compile("\\\\.|([*?\\[{])", Pattern.DOTALL);

    /** Files in SQL text: json.`/in/*`. */
    private static final Pattern IN_SQL = Pattern.compile("\\w+\\s*\\.\\s*`((?:[^`]|``)+)`");

    /** Limit of reads whose patterns are kept. */
    private static final int MOST_READS = 1000;

    /** Pairs of a file index, by a reference that does not keep it, and its patterns. */
    private final ArrayDeque noted = new ArrayDeque();

    /** Notes the patterns by which a file index was made, if Spark does not keep them. */
    public synchronized void note(Object index, List patterns) {
        if (noted.size() >= MOST_READS) {
            noted.removeFirst();
        }
        noted.addLast(new Object[] {new WeakReference(index), patterns});
    }

    /** Returns the patterns that were noted of a file index; null if there are none. */
    public synchronized List noted(Object index) {
        List patterns = null;
        for (Iterator each = noted.iterator(); each.hasNext();) {
            Object[] pair = (Object[]) each.next();
            Object known = ((WeakReference) pair[0]).get();
            if (known == null) {
                each.remove();
            } else if (known == index) {
                patterns = among((List) pair[1]);
            }
        }
        return patterns;
    }

    /** Returns the paths with wildcards; null if there are none. */
    public static List among(List paths) {
        List patterns = new ArrayList();
        for (Iterator each = paths.iterator(); each.hasNext() && patterns.size() < MOST_PATTERNS;) {
            String path = String.valueOf(each.next());
            if (path.length() <= MOST_LETTERS && hasWildcard(path)) {
                patterns.add(path);
            }
        }
        return patterns.isEmpty() ? null : patterns;
    }

    /** Returns the path with wildcards that a reference in SQL names; null if it names none. */
    public static List inSql(String text) {
        Matcher reference = IN_SQL.matcher(text.length() <= MOST_LETTERS ? text : "");
        return reference.matches()
            ? among(Collections.singletonList(reference.group(1).replace("``", "`"))) : null;
    }

    private static boolean hasWildcard(String path) {
        Matcher letter = LETTER.matcher(path);
        while (letter.find()) {
            if (letter.group(1) != null) {
                return true;
            }
        }
        return false;
    }

    /** Returns all paths, or as many as the limit, evenly among all. */
    public static List sample(Object many) {
        List paths = Paths.all(many);
        if (paths.size() <= MOST_PATHS) {
            return paths;
        }
        List some = new ArrayList();
        for (long i = 0; i < MOST_PATHS; i++) {
            some.add(paths.get((int) (i * (paths.size() - 1) / (MOST_PATHS - 1))));
        }
        return some;
    }

    /** Returns for each path whether it is a key of Spark's files; null if these are no map. */
    public static List areFiles(List paths, Object files) {
        if (!(files instanceof scala.collection.Map)) {
            return null;
        }
        List are = new ArrayList();
        for (Iterator each = paths.iterator(); each.hasNext();) {
            are.add(Boolean.valueOf(((scala.collection.Map) files).contains(each.next())));
        }
        return are;
    }
}
