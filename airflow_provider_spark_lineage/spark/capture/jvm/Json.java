package sparklineage;

import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Writes JSON, and notes the texts that may hold a secret: Python checks only those. */
public class Json {
    private final StringBuilder out = new StringBuilder();
    private final Pattern hint;
    private final Set suspects;
    private boolean comma = false;

    public Json(Pattern hint, Set suspects) {
        this.hint = hint;
        this.suspects = suspects;
    }

    /** Returns an empty text that notes suspects in the same place. */
    public Json part() {
        return new Json(hint, suspects);
    }

    public int length() {
        return out.length();
    }

    public String toString() {
        return out.toString();
    }

    public void open(char bracket) {
        separate();
        out.append(bracket);
        comma = false;
    }

    public void close(char bracket) {
        out.append(bracket);
        comma = true;
    }

    /** Writes a name that needs no escapes. */
    public void name(String name) {
        separate();
        out.append('"').append(name).append("\":");
        comma = false;
    }

    /** Writes a text that is JSON. */
    public void raw(Object json) {
        separate();
        out.append(json);
        comma = true;
    }

    /** Writes a text that cannot hold a secret. */
    public void plain(String text) {
        separate();
        quote(text);
        comma = true;
    }

    public void text(String text) {
        if (hint.matcher(text).find()) {
            suspects.add(text);
        }
        plain(text);
    }

    /** Writes null, a boolean, a number, a collection or a map; anything else by its `toString`. */
    public void value(Object value) {
        if (value == null || value instanceof Boolean || isNumber(value)) {
            raw(value);
        } else if (value instanceof Collection) {
            open('[');
            for (Iterator each = ((Collection) value).iterator(); each.hasNext();) {
                value(each.next());
            }
            close(']');
        } else if (value instanceof Map) {
            open('{');
            for (Iterator each = ((Map) value).entrySet().iterator(); each.hasNext();) {
                Map.Entry entry = (Map.Entry) each.next();
                separate();
                quote(String.valueOf(entry.getKey()));
                out.append(':');
                comma = false;
                value(entry.getValue());
            }
            close('}');
        } else {
            text(String.valueOf(value));
        }
    }

    private static boolean isNumber(Object value) {
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            return !Double.isNaN(number) && !Double.isInfinite(number);
        }
        return value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte;
    }

    private void separate() {
        if (comma) {
            out.append(',');
        }
        comma = false;
    }

    private void quote(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            if (letter == '"' || letter == '\\') {
                out.append('\\').append(letter);
            } else if (letter < ' ' || letter > '~') {
                out.append("\\u");
                String code = Integer.toHexString(letter);
                for (int zeros = code.length(); zeros < 4; zeros++) {
                    out.append('0');
                }
                out.append(code);
            } else {
                out.append(letter);
            }
        }
        out.append('"');
    }
}
