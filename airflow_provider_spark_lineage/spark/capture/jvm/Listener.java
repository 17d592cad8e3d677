package sparklineage;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkContext;
import org.apache.spark.executor.OutputMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;

/**
 * Writes a record of every execution of a Spark application when it has ended, and one of its beginning if it
 * takes long.
 *
 * The thread of Spark's listener bus only notes what started and ended: a slow catalog must not block other
 * listeners or the end of the application. Our own thread reads plans and facts and writes lines, in the order
 * of the bus; Python fetches them.
 *
 * A batch of a stream is an execution without a name, in a clone of the user's session: its plan has the rows,
 * and the command at its root is the sink. What `foreachBatch` runs are executions inside the batch.
 */
public class Listener extends SparkListener implements Runnable {
    private static final Object OVER = new Object();
    private static final String LOST = "Lan execution could not be recorded";
    private static final String TOO_MANY = "Lan execution could not be recorded: too many wait to be";
    private static final String EXECUTION = "spark.sql.execution.id";

    /** Property of a job with the line that called it, also where the program sets a description. */
    private static final String SITE = "callSite.short";

    /** Mark that asks for the usage. */
    private static final String USAGE = "usage";

    /** Limit of calls over RDDs whose jobs are counted: entries of jobs that start after their call stay. */
    private static final int MOST_CALLS = 1000;

    /** Limit of executions that wait to be written; more are lost. */
    private static final int MOST_ENDED = 1000;

    /** Limit of characters that wait for Python; executions beyond it are lost, with a line for each. */
    private static final long MOST_WAITING = 64L * 1024 * 1024;

    /** Pause between two looks at the executions that run. */
    private static final long BEGIN_PAUSE_MS = 250;

    /** Characters that Python fetches in one call. */
    private static final int MOST_TAKEN = 4 * 1024 * 1024;

    private final Reader reader;
    private final SparkContext context;
    private final long limit;
    /** Executions to be written, and lines that have to stay in order with them. */
    private final LinkedBlockingQueue ended = new LinkedBlockingQueue();
    private final AtomicInteger executions = new AtomicInteger();
    private final ConcurrentLinkedQueue lines = new ConcurrentLinkedQueue();

    /** Executions whose beginning may have to be written, in the order of their starts. */
    private final ConcurrentLinkedQueue starting = new ConcurrentLinkedQueue();
    private final AtomicInteger startings = new AtomicInteger();

    /** Age in milliseconds at which the beginning of a running execution is written; negative: never. */
    private volatile long beginAfterMs = -1;
    private final AtomicLong waiting = new AtomicLong();
    private final AtomicLong marks = new AtomicLong();

    // Used by the thread of the listener bus alone.
    private final Map open = new LinkedHashMap();
    private final Map executionOfStage = new HashMap();
    private final Map stagesOfJob = new HashMap();
    private final Map jobsOfCall = new HashMap();
    /**
     * Set once the jobs of a call were not counted: from then on a missing entry does not mean that the call
     * ran no job.
     */
    private boolean missesCalls = false;
    private final Map callOfJob = new HashMap();
    private final Map callOfStage = new HashMap();
    private Usage usage = new Usage();
    private Streams streams = new Streams();
    private boolean begun = false;

    /** `limit` is the largest length of a plan's JSON in characters. */
    public Listener(Reader reader, SparkContext context, long limit) {
        this.reader = reader;
        this.context = context;
        this.limit = limit;
    }

    public void run() {
        boolean isOver = false;
        while (!isOver) {
            try {
                Object next = beginAfterMs < 0 ? ended.take() : ended.poll(BEGIN_PAUSE_MS, TimeUnit.MILLISECONDS);
                isOver = next == OVER;
                writeBeginnings();
                if (next instanceof Execution) {
                    executions.decrementAndGet();
                    write((Execution) next);
                } else if (next instanceof Streams) {
                    write((Streams) next);
                } else if (next instanceof StreamRun) {
                    write((StreamRun) next);
                } else if (next != null && !isOver) {
                    waiting.addAndGet(((String) next).length());
                    lines.add(next);
                }
            } catch (Throwable error) {
                // Go on: this thread has to write the executions that follow.
                lines.add(LOST);
            }
        }
    }

    /** Writes the beginning of each execution that takes longer; call it before the listener is registered. */
    public void writeBeginningsAfter(long milliseconds) {
        beginAfterMs = milliseconds;
    }

    private void writeBeginnings() {
        long before = System.currentTimeMillis() - beginAfterMs;
        Execution first = (Execution) starting.peek();
        while (first != null && (first.end != null || first.startedMs <= before)) {
            starting.poll();
            startings.decrementAndGet();
            if (first.end == null) {
                writeBeginning(first);
            }
            first = (Execution) starting.peek();
        }
    }

    /** Writes the beginning of an execution; the record of its end is whole without it. */
    private void writeBeginning(Execution execution) {
        try {
            String begun = new Query(reader, execution).writeBeginning(limit);
            if (begun != null && waiting.get() + begun.length() < MOST_WAITING / 2) {
                write("B" + begun);
            }
        } catch (Throwable error) {
            // Its events are sent when it has ended.
        }
    }

    /** Stops writing. */
    public void close() {
        ended.clear();
        ended.add(OVER);
    }

    /**
     * Posts a mark behind all events posted so far, and returns its number; capture begins at mark 0. Marks arrive
     * in the order of their numbers.
     */
    public synchronized long mark(String call) {
        long number = marks.getAndIncrement();
        context.listenerBus().post(new Mark(this, number, call));
        return number;
    }

    /** Returns and removes the lines written so far, up to `MOST_TAKEN` characters. */
    public String take() {
        StringBuilder text = new StringBuilder();
        String line = (String) lines.peek();
        while (line != null && (text.length() == 0 || text.length() + line.length() < MOST_TAKEN)) {
            text.append(line).append('\n');
            waiting.addAndGet(-line.length());
            lines.poll();
            line = (String) lines.peek();
        }
        return text.toString();
    }

    public void onJobStart(SparkListenerJobStart event) {
        try {
            jobStarted(event);
        } catch (Throwable error) {
            failed(error);
        }
        use(event);
    }

    /** Adds an event to the usage. Lineage does not need it: after an error, it is not counted any more. */
    private void use(SparkListenerEvent event) {
        try {
            if (begun && usage != null) {
                usage.add(event, executionOfStage);
            }
        } catch (Throwable error) {
            usage = null;
        }
    }

    /** Passes on to Python what tasks used and what streams did; after an error, only that is missing. */
    private void tellUsage() {
        try {
            if (usage != null) {
                Json used = new Json(reader.hint, new HashSet());
                usage.write(used);
                ended.add("U" + used);
            }
        } catch (Throwable error) {
            usage = null;
        }
        try {
            if (streams != null) {
                ended.add(streams.copy());
            }
        } catch (Throwable error) {
            streams = null;
        }
    }

    /** Adds an event of a streaming query, as `use`. */
    private void follow(SparkListenerEvent event) {
        try {
            if (begun && streams != null) {
                StreamRun over = streams.add(event);
                if (over != null) {
                    // Behind the executions of its batches.
                    ended.add(over);
                }
            }
        } catch (Throwable error) {
            streams = null;
        }
    }

    private void write(Streams copy) {
        try {
            Json facts = new Json(reader.hint, new HashSet());
            copy.write(facts, reader.texts);
            writeFacts("S" + facts);
        } catch (Throwable error) {
            // Only what the streams did is missing.
        }
    }

    private void write(StreamRun copy) {
        try {
            Json facts = new Json(reader.hint, new HashSet());
            copy.write(facts, reader.texts);
            writeFacts("T" + facts);
        } catch (Throwable error) {
            // The query counts as running until the capture ends.
        }
    }

    private void writeFacts(String line) {
        if (waiting.get() + line.length() <= MOST_WAITING) {
            write(line);
        }
    }

    private void jobStarted(SparkListenerJobStart event) {
        if (!begun || event.properties() == null) {
            return;
        }
        String id = event.properties().getProperty(EXECUTION);
        String call = event.properties().getProperty(reader.call);
        List stages = Paths.all(event.stageIds());
        Jobs jobs = call == null ? null : jobsOf(call);
        if (id != null) {
            if (jobs != null) {
                jobs.beganInExecution();
            }
            stagesOfJob.put(Integer.valueOf(event.jobId()), stages);
            Execution execution = (Execution) open.get(Long.valueOf(id));
            if (execution != null) {
                execution.jobs += 1;
                execution.site = event.properties().getProperty(SITE, execution.site);
                execution.lastJob = event;
            }
            for (Iterator each = stages.iterator(); each.hasNext();) {
                executionOfStage.put(each.next(), Long.valueOf(id));
            }
        } else if (jobs != null) {
            stagesOfJob.put(Integer.valueOf(event.jobId()), stages);
            jobs.began(event);
            callOfJob.put(Integer.valueOf(event.jobId()), jobs);
            for (Iterator each = stages.iterator(); each.hasNext();) {
                callOfStage.put(each.next(), jobs);
            }
        }
    }

    private Jobs jobsOf(String call) {
        if (!jobsOfCall.containsKey(call)) {
            missesCalls = missesCalls || jobsOfCall.size() >= MOST_CALLS;
            if (!missesCalls) {
                jobsOfCall.put(call, new Jobs());
            }
        }
        return (Jobs) jobsOfCall.get(call);
    }

    public void onTaskEnd(SparkListenerTaskEnd event) {
        try {
            taskEnded(event);
        } catch (Throwable error) {
            failed(error);
        }
        use(event);
    }

    private void taskEnded(SparkListenerTaskEnd event) {
        if (event.taskInfo() != null && event.taskInfo().successful()) {
            return;
        }
        Integer stage = Integer.valueOf(event.stageId());
        Execution execution = (Execution) open.get(executionOfStage.get(stage));
        Jobs jobs = (Jobs) callOfStage.get(stage);
        if (execution != null) {
            execution.isExact = false;
        }
        if (jobs != null) {
            jobs.taskFailed();
        }
    }

    public void onJobEnd(SparkListenerJobEnd event) {
        try {
            jobEnded(event);
        } catch (Throwable error) {
            failed(error);
        }
    }

    private void jobEnded(SparkListenerJobEnd event) {
        List stages = (List) stagesOfJob.remove(Integer.valueOf(event.jobId()));
        Jobs jobs = (Jobs) callOfJob.remove(Integer.valueOf(event.jobId()));
        if (stages != null) {
            executionOfStage.keySet().removeAll(stages);
            callOfStage.keySet().removeAll(stages);
        }
        if (jobs != null) {
            jobs.jobEnded(event.jobId());
        }
    }

    public void onStageSubmitted(SparkListenerStageSubmitted event) {
        use(event);
    }

    public void onStageCompleted(SparkListenerStageCompleted event) {
        try {
            stageCompleted(event);
        } catch (Throwable error) {
            failed(error);
        }
        use(event);
    }

    private void stageCompleted(SparkListenerStageCompleted event) {
        Integer stage = Integer.valueOf(event.stageInfo().stageId());
        Jobs jobs = (Jobs) callOfStage.get(stage);
        if (jobs != null) {
            jobs.stageCompleted(event);
        }
        Execution execution = (Execution) open.get(executionOfStage.get(stage));
        boolean isDone = event.stageInfo().failureReason().isEmpty() && event.stageInfo().taskMetrics() != null;
        if (execution != null && isDone) {
            OutputMetrics written = event.stageInfo().taskMetrics().outputMetrics();
            execution.stages += 1;
            execution.rows += written.recordsWritten();
            execution.bytes += written.bytesWritten();
        }
    }

    public void onExecutorAdded(SparkListenerExecutorAdded event) {
        use(event);
    }

    public void onBlockManagerAdded(SparkListenerBlockManagerAdded event) {
        use(event);
    }

    public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
        use(event);
    }

    /** Adds the executors that Spark had before the capture. */
    private void addExecutors() {
        try {
            Object store = Paths.call(context, "statusStore", new Object[0]);
            Object all = Paths.call(store, "executorList", new Object[] {Boolean.TRUE});
            for (Iterator each = Paths.all(all).iterator(); each.hasNext();) {
                Object executor = each.next();
                String id = (String) Paths.call(executor, "id", new Object[0]);
                usage.memoryAdded(id, ((Long) Paths.call(executor, "maxMemory", new Object[0])).longValue());
                usage.executorAdded(id, ((Integer) Paths.call(executor, "totalCores", new Object[0])).intValue());
            }
        } catch (Throwable error) {
            // Without them, their cores and memory are not in the sums.
        }
    }

    public void onApplicationEnd(SparkListenerApplicationEnd event) {
        // No mark arrives after this, but ends of executions may.
        ended.add("E");
    }

    public void onOtherEvent(SparkListenerEvent event) {
        try {
            if (event instanceof Mark) {
                arrived((Mark) event);
            } else if (begun && event instanceof SparkListenerSQLExecutionStart) {
                started((SparkListenerSQLExecutionStart) event);
            } else if (begun && event instanceof SparkListenerSQLExecutionEnd) {
                ended((SparkListenerSQLExecutionEnd) event);
            } else {
                follow(event);
            }
        } catch (Throwable error) {
            failed(error);
        }
    }

    /** Notes an error, which must not reach Spark's bus: some stop the Spark context. */
    private void failed(Throwable error) {
        try {
            // The line makes Python log the loss.
            ended.add(lost(error));
        } catch (Throwable again) {
            // A class that cannot be loaded, for example.
            ended.add(LOST);
        }
    }

    private String lost(Throwable error) {
        return "L" + Query.sentence(reader.texts, "an execution could not be recorded", error).replace('\n', ' ');
    }

    private void arrived(Mark mark) {
        if (mark.of == this) {
            if (!begun) {
                // Threads inherit Spark's local properties: create it here, not in a thread of the user's.
                Thread thread = new Thread(this, "spark-lineage-writer");
                thread.setDaemon(true);
                thread.start();
                addExecutors();
            }
            begun = true;
            if (mark.call.equals(USAGE)) {
                tellUsage();
            }
            Jobs jobs = (Jobs) jobsOfCall.remove(mark.call);
            Json counts = new Json(reader.hint, new HashSet());
            if (jobs == null && !missesCalls && !mark.call.isEmpty()) {
                jobs = new Jobs();
            }
            if (jobs != null) {
                jobs.write(counts);
            }
            ended.add("M" + mark.number + " " + open.size() + " " + counts);
        }
    }

    private void started(SparkListenerSQLExecutionStart event) throws Exception {
        scala.Option rootId = (scala.Option) Paths.call(event, "rootExecutionId", new Object[0]);
        boolean hasRoot = rootId != null && rootId.isDefined();
        long root = hasRoot ? ((Long) rootId.get()).longValue() : event.executionId();
        Execution parent = null;
        for (Iterator each = open.values().iterator(); each.hasNext() && root != event.executionId();) {
            Execution running = (Execution) each.next();
            parent = running.root == root ? running : parent;
        }
        Long id = Long.valueOf(event.executionId());
        scala.collection.Map modified = (scala.collection.Map) Paths.call(event, "modifiedConfigs", new Object[0]);
        Execution execution = new Execution(event.executionId(), root, event.time(), parent, modified);
        // A function of `foreachBatch` may change the description of what it runs.
        execution.streamRun = parent == null ? StreamRun.idOf(event.description()) : parent.streamRun;
        execution.site = event.description() == null ? "" : event.description();
        open.put(id, execution);
        if (parent != null) {
            parent.running = execution;
        }
        if (beginAfterMs >= 0 && root == event.executionId() && execution.streamRun.isEmpty()
            && startings.get() < MOST_ENDED) {
            startings.incrementAndGet();
            starting.add(execution);
        }
    }

    private void ended(SparkListenerSQLExecutionEnd event) throws Exception {
        Execution execution = (Execution) open.remove(Long.valueOf(event.executionId()));
        if (execution == null) {
            // It started before the capture.
            long started = event.time() - ((Long) Paths.call(event, "duration", new Object[0])).longValue() / 1000000;
            execution = new Execution(event.executionId(), event.executionId(), started, null, null);
        }
        execution.end = event;
        if (execution.parent != null && execution.parent.running == execution) {
            execution.parent.running = null;
        }
        if (execution.parent != null && open.containsValue(execution.parent)) {
            // The parent decides when it has ended whether this is a part of it.
            execution.parent.nested.add(execution);
        } else if (executions.get() < MOST_ENDED) {
            executions.incrementAndGet();
            ended.add(execution);
        } else {
            ended.add(TOO_MANY);
            // Facts that were read for it must not be used for a later command.
            reader.foresight.forget();
        }
    }

    /** Writes an execution with its parts; nested executions that are not parts have records of their own. */
    private void write(Execution execution) {
        try {
            for (Iterator each = execution.others().iterator(); each.hasNext();) {
                write((Execution) each.next());
            }
            String written = new Query(reader, execution).write(execution.parts(), limit);
            if (written != null) {
                write("R" + written);
            }
        } catch (Throwable error) {
            lines.add(lost(error));
        }
    }

    private void write(String line) {
        if (waiting.get() + line.length() > MOST_WAITING) {
            lines.add(TOO_MANY);
            return;
        }
        waiting.addAndGet(line.length());
        lines.add(line);
    }
}
