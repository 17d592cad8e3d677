package sparklineage;

import org.apache.spark.scheduler.SparkListenerEvent;

/** Our event on Spark's listener bus: when it arrives, all events posted before it are handled. */
public class Mark implements SparkListenerEvent {
    public final Listener of;
    public final long number;
    /** The tag of the jobs of a call that has ended; empty for none. */
    public final String call;

    public Mark(Listener of, long number, String call) {
        this.of = of;
        this.number = number;
        this.call = call;
    }

    /** Returns false, which keeps it out of Spark's event log. */
    public boolean logEvent() {
        return false;
    }
}
