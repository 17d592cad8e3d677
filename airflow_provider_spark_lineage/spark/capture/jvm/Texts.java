package sparklineage;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkThrowable;

/**
 * Decides how much of the user's SQL leaves the JVM: all of it, the SQL without literals, or nothing.
 *
 * Unless it is all, the message of an error is left out too, because it may repeat the statement or a row:
 * the template that Spark has for the error condition takes its place.
 */
public class Texts {
    private static final Pattern PARAMETER = Pattern.compile("<(\\w+)>");

    /** A partition's folder, `/name=value`, in a list of paths. */
    private static final Pattern VALUE =
        Pattern.compile("(/[^/=]+)=[^/]*?(?=/|, [\\w.+-]+:/|, \\.\\.\\.\\]?\\s*$|\\]\\s*$|$)");

    /** Names as they are quoted in Spark's messages. */
    private static final Pattern QUOTED = Pattern.compile("`(?:[^`]|``)+`(?:(?:\\.|, )`(?:[^`]|``)+`)*");

    public final boolean isFull;
    private final boolean isMasked;

    /** `mode` is `full`, `masked` or `none`. */
    public Texts(String mode) {
        isFull = mode.equals("full");
        isMasked = mode.equals("masked");
    }

    /** Returns a statement as it may leave the JVM; empty for nothing. */
    public String sql(String text) {
        if (isFull) {
            return text;
        }
        try {
            return isMasked ? MaskedSql.of(text) : "";
        } catch (Throwable error) {
            // This Spark cannot read it: leave it out.
            return "";
        }
    }

    /** Returns the location of a scan; values in the names of partition folders are masked. */
    public String location(String text) {
        return isFull ? text : VALUE.matcher(text).replaceAll("$1=_");
    }

    /** Returns an error's message as it may leave the JVM; empty for nothing. */
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

    /** Returns the template of an error's message, filled with names of tables and columns, without values. */
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
