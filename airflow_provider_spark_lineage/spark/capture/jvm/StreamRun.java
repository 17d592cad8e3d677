package sparklineage;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What one run of a streaming query did; a restart is a new run. */
public class StreamRun {
    /** Description that Spark gives to what runs in the thread of a query. */
    private static final Pattern DESCRIPTION =
        Pattern.compile("^id = [0-9a-f-]{36}\nrunId = ([0-9a-f-]{36})\nbatch = ", Pattern.MULTILINE);

    /** Limit of an offset or a message: Python removes secrets, then cuts again. */
    private static final int MOST_LETTERS = 4000;

    /** Limits of what is written of one run. */
    private static final int MOST_SOURCES = 20;
    private static final int MOST_METRICS = 20;

    public final String id;
    public final String runId;
    public String name = "";
    public String startedAt = "";

    /** In milliseconds since 1970; -1 while it runs. */
    public long endedMs = -1;
    private String exception = "";
    private String condition = "";
    private long batches = 0;
    private long lastBatch = -1;
    private long rows = 0;

    /** Spark's `StreamingQueryProgress` of the last batch, which Spark does not change. */
    private Object last = null;

    public StreamRun(String id, String runId) {
        this.id = id;
        this.runId = runId;
    }

    /** Returns the run id in the description of an execution; empty without one. */
    static String idOf(String description) {
        if (description == null || description.indexOf("runId = ") < 0) {
            return "";
        }
        Matcher matcher = DESCRIPTION.matcher(description);
        return matcher.find() ? matcher.group(1) : "";
    }

    /** Adds a report of Spark, which may repeat the number of a batch, without rows. */
    public void progressed(Object progress) throws Exception {
        long batch = number(progress, "batchId");
        batches += batch == lastBatch ? 0 : 1;
        lastBatch = batch;
        rows += number(progress, "numInputRows");
        last = progress;
    }

    /** Notes the end, by an event without a time. */
    public void ended(Object event) throws Exception {
        endedMs = System.currentTimeMillis();
        exception = text(event, "exception");
        condition = text(event, "errorClassOnException");
    }

    public StreamRun copy() {
        StreamRun copy = new StreamRun(id, runId);
        copy.name = name;
        copy.startedAt = startedAt;
        copy.endedMs = endedMs;
        copy.exception = exception;
        copy.condition = condition;
        copy.batches = batches;
        copy.rows = rows;
        copy.last = last;
        return copy;
    }

    /** Writes the fields of `records.streams.StreamRun`. */
    public void write(Json out, Texts texts) {
        out.open('{');
        write(out, "id", id);
        write(out, "run_id", runId);
        write(out, "name", name);
        write(out, "started_at", startedAt);
        if (endedMs >= 0) {
            write(out, "ended_at", java.time.Instant.ofEpochMilli(endedMs).toString());
        }
        write(out, "outcome", endedMs < 0 ? "running" : exception.isEmpty() ? "success" : "failure");
        Usage.number(out, "batches", batches);
        Usage.number(out, "rows", rows);
        if (!exception.isEmpty()) {
            error(out, texts);
        }
        try {
            if (last != null) {
                Json report = out.part();
                report.open('{');
                progress(report, texts);
                report.close('}');
                out.name("last");
                out.raw(report);
            }
        } catch (Throwable error) {
            // A report of a future Spark: only the sums are written.
        }
        out.close('}');
    }

    /** Writes class and message, from the first line of the text that Spark has of an exception. */
    private void error(Json out, Texts texts) {
        String line = exception.split("\n", 2)[0];
        int end = line.indexOf(": ");
        boolean hasClass = (end < 0 ? line : line.substring(0, end)).matches("[\\w.$]+");
        out.name("error");
        out.open('{');
        write(out, "class", !hasClass ? "" : end < 0 ? line : line.substring(0, end));
        if (texts.isFull) {
            write(out, "message", !hasClass ? line : end < 0 ? "" : line.substring(end + 2));
        }
        write(out, "condition", condition);
        out.close('}');
    }

    private void progress(Json out, Texts texts) throws Exception {
        Usage.number(out, "batch_id", number(last, "batchId"));
        write(out, "at", text(last, "timestamp"));
        Object took = ((Map) get(last, "durationMs")).get("triggerExecution");
        if (took != null) {
            out.name("duration_ms");
            out.value(took);
        }
        Object watermark = ((Map) get(last, "eventTime")).get("watermark");
        write(out, "watermark", watermark == null ? "" : watermark.toString());
        write(out, "sink", texts.location(text(get(last, "sink"), "description")));
        out.name("sources");
        out.open('[');
        List sources = Paths.all(get(last, "sources"));
        for (int i = 0; i < sources.size() && i < MOST_SOURCES; i++) {
            source(out, texts, sources.get(i));
        }
        out.close(']');
    }

    private static void source(Json out, Texts texts, Object source) throws Exception {
        out.open('{');
        write(out, "description", texts.location(text(source, "description")));
        write(out, "start_offset", text(source, "startOffset"));
        write(out, "end_offset", text(source, "endOffset"));
        Usage.number(out, "rows", number(source, "numInputRows"));
        rate(out, "input_rows_per_second", get(source, "inputRowsPerSecond"));
        rate(out, "processed_rows_per_second", get(source, "processedRowsPerSecond"));
        Object metrics = get(source, "metrics");
        Map some = new LinkedHashMap();
        Iterator each = metrics instanceof Map ? ((Map) metrics).entrySet().iterator() : some.entrySet().iterator();
        while (each.hasNext() && some.size() < MOST_METRICS) {
            Map.Entry entry = (Map.Entry) each.next();
            some.put(entry.getKey(), cut(String.valueOf(entry.getValue())));
        }
        out.name("metrics");
        out.value(some);
        out.close('}');
    }

    /** Writes a number that Spark has only where the time between two batches is known. */
    private static void rate(Json out, String name, Object value) {
        double number = value instanceof Number ? ((Number) value).doubleValue() : Double.NaN;
        if (!Double.isNaN(number) && !Double.isInfinite(number)) {
            out.name(name);
            out.raw(value);
        }
    }

    private static void write(Json out, String name, String text) {
        out.name(name);
        out.text(cut(text));
    }

    private static String cut(String text) {
        return text.length() > MOST_LETTERS ? text.substring(0, MOST_LETTERS) : text;
    }

    static Object get(Object holder, String name) throws Exception {
        return Paths.call(holder, name, new Object[0]);
    }

    /** Returns a member as a text; empty for null or an empty Option, or if this Spark has no such member. */
    static String text(Object holder, String name) throws Exception {
        Object value = get(holder, name);
        if (value instanceof scala.Option) {
            value = ((scala.Option) value).isDefined() ? ((scala.Option) value).get() : null;
        }
        return value == null ? "" : value.toString();
    }

    private static long number(Object holder, String name) throws Exception {
        return ((Number) get(holder, name)).longValue();
    }
}
