package sparklineage;

import org.apache.spark.scheduler.SparkListenerEvent;

/** An event of ours on Spark's listener bus: what was posted before it has been handled when it arrives. */
public class Mark implements SparkListenerEvent {
    public final Listener of;
    public final long number;

    public Mark(Listener of, long number) {
        this.of = of;
        this.number = number;
    }

    /** Keeps it out of Spark's event log. */
    public boolean logEvent() {
        return false;
    }
}
