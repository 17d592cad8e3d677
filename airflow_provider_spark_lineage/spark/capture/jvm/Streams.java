package sparklineage;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Keeps what each run of a streaming query did, from the events of Spark's `StreamingQueryListener`.
 *
 * Used by the thread of the listener bus alone; another thread writes a copy.
 */
public class Streams {
    private static final String EVENT = "org.apache.spark.sql.streaming.StreamingQueryListener$Query";
    private static final String STARTED = EVENT + "StartedEvent";
    private static final String PROGRESS = EVENT + "ProgressEvent";
    private static final String TERMINATED = EVENT + "TerminatedEvent";

    /** Limit of runs that are kept. */
    private static final int MOST_RUNS = 200;

    private final Map runs = new LinkedHashMap();
    private long count = 0;

    /** Adds an event of any kind; returns a copy of the run that it ended, or null. */
    public StreamRun add(Object event) throws Exception {
        String kind = event.getClass().getName();
        if (!kind.startsWith(EVENT)) {
            return null;
        }
        if (kind.equals(PROGRESS)) {
            Object progress = StreamRun.get(event, "progress");
            run(progress).progressed(progress);
        } else if (kind.equals(STARTED)) {
            run(event).startedAt = StreamRun.text(event, "timestamp");
        } else if (kind.equals(TERMINATED)) {
            StreamRun run = run(event);
            run.ended(event);
            return run.copy();
        }
        return null;
    }

    private StreamRun run(Object about) throws Exception {
        String id = StreamRun.text(about, "runId");
        StreamRun run = (StreamRun) runs.get(id);
        if (run == null) {
            if (runs.size() >= MOST_RUNS) {
                forgetOne();
            }
            count += 1;
            run = new StreamRun(StreamRun.text(about, "id"), id);
            runs.put(id, run);
        }
        if (run.name.isEmpty()) {
            // The event of the end has no name.
            run.name = StreamRun.text(about, "name");
        }
        return run;
    }

    /** Forgets the first run that has ended; the first of all if none has. */
    private void forgetOne() {
        Object first = runs.keySet().iterator().next();
        for (Iterator each = runs.values().iterator(); each.hasNext();) {
            StreamRun run = (StreamRun) each.next();
            if (run.endedMs >= 0) {
                first = run.runId;
                break;
            }
        }
        runs.remove(first);
    }

    /** Returns the state of now, for another thread. */
    public Streams copy() {
        Streams copy = new Streams();
        copy.count = count;
        for (Iterator each = runs.values().iterator(); each.hasNext();) {
            StreamRun run = (StreamRun) each.next();
            copy.runs.put(run.runId, run.copy());
        }
        return copy;
    }

    /** Writes the fields of `records.streams.Streams`. */
    public void write(Json out, Texts texts) {
        out.open('{');
        Usage.number(out, "count", count);
        out.name("runs");
        out.open('[');
        for (Iterator each = runs.values().iterator(); each.hasNext();) {
            ((StreamRun) each.next()).write(out, texts);
        }
        out.close(']');
        out.close('}');
    }
}
