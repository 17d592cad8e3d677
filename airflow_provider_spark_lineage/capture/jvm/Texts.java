package sparklineage;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkThrowable;

/**
 * Decides how much of a program's own text leaves the JVM: all of it, it without its literals, or nothing.
 *
 * Where it is not all, an error's message is left out too, which may repeat the statement or a row: what
 * stays are the words that Spark has ready for every error of a kind.
 */
public class Texts {
    private static final Pattern PARAMETER = Pattern.compile("<(\\w+)>");

    /** The name of a partition's folder, up to the next folder or path, or the end of the list. */
    private static final Pattern VALUE =
        Pattern.compile("(/[^/=,\\[\\]]+)=[^/]*?(?=/|, \\w+:/|, \\.|\\]\\s*$|$)");

    /** Names, as messages of Spark quote them. */
    private static final Pattern QUOTED = Pattern.compile("`(?:[^`]|``)+`(?:(?:\\.|, )`(?:[^`]|``)+`)*");

    public final boolean isFull;
    private final boolean isMasked;

    /** Takes `full`, `masked` or `none`. */
    public Texts(String mode) {
        isFull = mode.equals("full");
        isMasked = mode.equals("masked");
    }

    /** Returns what is handed on of a statement; empty for nothing. */
    public String sql(String text) {
        if (isFull) {
            return text;
        }
        try {
            return isMasked ? MaskedSql.of(text) : "";
        } catch (Throwable error) {
            // What is no SQL to this Spark is not handed on.
            return "";
        }
    }

    /** Returns where a scan found files; the folders of partitions have values in their names. */
    public String location(String text) {
        return isFull ? text : VALUE.matcher(text).replaceAll("$1=_");
    }

    /** Returns what is handed on of an error's message; empty for nothing. */
    public String message(Throwable error) {
        if (isFull) {
            return error.getMessage() == null ? "" : error.getMessage();
        }
        try {
            return template(error);
        } catch (Throwable none) {
            return "";
        }
    }

    /** Returns Spark's words for errors of a kind, with the names that this one is about, without values. */
    private static String template(Throwable error) throws Exception {
        Object kind = Paths.call(error, "getCondition", new Object[0]);
        if (kind == null) {
            // Spark 3.5
            kind = Paths.call(error, "getErrorClass", new Object[0]);
        }
        if (kind == null) {
            return "";
        }
        ClassLoader loader = SparkThrowable.class.getClassLoader();
        Class helper = Class.forName("org.apache.spark.SparkThrowableHelper$", true, loader);
        Object reader = Paths.call(helper.getField("MODULE$").get(null), "errorReader", new Object[0]);
        String words = (String) Paths.call(reader, "getMessageTemplate", new Object[] {kind});
        Map values = (Map) Paths.call(error, "getMessageParameters", new Object[0]);
        StringBuffer out = new StringBuffer();
        Matcher parameter = PARAMETER.matcher("[" + kind + "] " + words);
        while (parameter.find()) {
            String value = String.valueOf(values.get(parameter.group(1)));
            boolean isName = QUOTED.matcher(value).matches();
            parameter.appendReplacement(out, Matcher.quoteReplacement(isName ? value : parameter.group()));
        }
        parameter.appendTail(out);
        return out.toString().trim();
    }
}
