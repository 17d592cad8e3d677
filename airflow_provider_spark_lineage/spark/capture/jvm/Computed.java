package sparklineage;

import java.lang.reflect.Field;
import scala.util.Try;

/**
 * Reads what a `QueryExecution` has computed, and nothing that failed.
 *
 * Since Spark 4.0 it keeps an error in a `LazyTry`, and every caller gets the same error, whose stack trace
 * then has the frames of the last caller: the program may print it later. Before 4.0 it computes a failed
 * value again, and may succeed.
 */
public class Computed {
    private Computed() {
    }

    /**
     * Returns a value by the name of its method; null if it failed. A value not computed so far is null if
     * the query failed, else it is computed.
     */
    public static Object read(Object query, String name, boolean failed) throws Exception {
        String lazy = "lazy" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
        boolean isKnown = false;
        for (Class kind = query.getClass(); kind != null && !isKnown; kind = kind.getSuperclass()) {
            Object value = null;
            Field field = field(kind, lazy);
            if (field != null) {
                Object holder = field.get(query);
                Field result = holder == null ? null : field(holder.getClass(), "tryT");
                isKnown = result != null;
                value = result == null ? null : result.get(holder);
            } else {
                // A lazy value of Scala: the field is null until it is computed.
                field = field(kind, name);
                if (field != null) {
                    isKnown = true;
                    value = field.get(query);
                }
            }
            if (value instanceof Try) {
                return ((Try) value).isSuccess() ? ((Try) value).get() : null;
            }
            if (value != null) {
                return value;
            }
        }
        return isKnown && failed ? null : Paths.call(query, name, new Object[0]);
    }

    private static Field field(Class kind, String name) {
        try {
            Field field = kind.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (Exception none) {
            return null;
        }
    }
}
