package sparklineage;

import org.apache.spark.scheduler.SparkListenerEvent;

/** An event of ours on Spark's listener bus: what was posted before it has been handled when it arrives. */
public class Mark implements SparkListenerEvent {
    public final Listener of;
    public final long number;
    /** The call over an RDD that has ended; empty for none. */
    public final String call;

    public Mark(Listener of, long number, String call) {
        this.of = of;
        this.number = number;
        this.call = call;
    }

    /** Keeps it out of Spark's event log. */
    public boolean logEvent() {
        return false;
    }
}
