package sparklineage;

import java.util.List;

/** One step of a path: `name(arguments)` and a shape, which is `[]`, `?`, `!` or nothing. */
public class Step {
    private static final List WHOLE = java.util.Arrays.asList(
        new String[] {
            "$alone_in", "$exists", "$files", "$files_among", "$modified", "$oldest_write", "$options", "$patterns",
            "$sample", "$sql",
        });

    public final String written;
    public final String name;
    public final List arguments;
    public final String shape;

    public Step(String written) {
        this.written = written;
        this.shape = written.endsWith("[]") ? "[]" : written.endsWith("?") ? "?" : written.endsWith("!") ? "!" : "";
        String call = written.substring(0, written.length() - shape.length());
        int open = call.indexOf('(');
        this.name = open < 0 ? call : call.substring(0, open);
        this.arguments = Paths.split(open < 0 ? "" : call.substring(open + 1, call.length() - 1), ',');
    }

    /** Returns whether the step applies to the result of the whole path in its arguments. */
    public boolean isWhole() {
        return WHOLE.contains(name);
    }
}
