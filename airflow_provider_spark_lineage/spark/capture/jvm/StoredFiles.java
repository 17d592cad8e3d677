package sparklineage;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RemoteIterator;

/** Looks at files in storage, without reading them. */
public class StoredFiles {
    /** Limit of files and folders that are listed: a dataset with more of them is not looked at. */
    private static final int MOST_FILES = 2000;

    /** Id of a write in the names of its files. */
    private static final Pattern WRITE = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /** Name of a folder inside a dataset: a partition, a date, or a part of a date. */
    private static final Pattern INNER = Pattern.compile(".+=.*|(19|20)?[0-9]{2}|(19|20)[0-9]{2}[-_0-9].*");

    private final Configuration conf;

    public StoredFiles(Configuration conf) {
        this.conf = conf;
    }

    private static org.apache.hadoop.fs.Path path(Object place) {
        return place instanceof URI ? new org.apache.hadoop.fs.Path((URI) place) : new org.apache.hadoop.fs.Path(place.toString());
    }

    /** Returns whether a path is a file, or a folder that is not empty. */
    public Boolean exists(Object place) throws Exception {
        FileSystem system = path(place).getFileSystem(conf);
        return Boolean.valueOf(system.exists(path(place)) && system.listStatus(path(place)).length > 0);
    }

    /** Returns when a file in a folder was written, in milliseconds since 1970; null if there is none. */
    public Long modified(Object folder, Object name) throws Exception {
        org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(path(folder), name.toString());
        try {
            return Long.valueOf(file.getFileSystem(conf).getFileStatus(file).getModificationTime());
        } catch (FileNotFoundException error) {
            return null;
        }
    }

    /**
     * Returns number and bytes of the oldest files that one write left in a folder: [0, 0] if there is no file,
     * null if that is unknown, or if they are older than `started`, in milliseconds since 1970.
     *
     * Later writes do not change the answer. The time does not matter if there are files of one write only: the
     * clock of the storage may differ.
     */
    public List oldestWrite(Object folder, Long started) throws Exception {
        Map writes = new HashMap();
        try {
            if (!list(path(folder), writes)) {
                return null;
            }
        } catch (IOException error) {
            // A later write of the program removes files while they are listed, for example.
            return null;
        }
        long[] oldest = {0, 0, Long.MAX_VALUE};
        boolean isAlone = true;
        for (Iterator each = writes.values().iterator(); each.hasNext();) {
            long[] write = (long[]) each.next();
            isAlone = write[2] < oldest[2] || isAlone && write[2] > oldest[2];
            oldest = write[2] < oldest[2] ? write : oldest;
        }
        boolean isKnown = writes.size() < 2 || isAlone && started != null && oldest[2] >= started.longValue();
        return isKnown ? Arrays.asList(new Object[] {Long.valueOf(oldest[0]), Long.valueOf(oldest[1])}) : null;
    }

    /** Returns whether a folder is inside a dataset by its name. */
    public static boolean isInner(Object folder) {
        return INNER.matcher(path(folder).getName()).matches();
    }

    /**
     * Returns how many of the folders around a folder hold nothing else now, from the inside out, as far as they
     * are of one dataset by their names; null if that is unknown.
     */
    public Integer aloneIn(Object folder) {
        org.apache.hadoop.fs.Path inner = path(folder);
        int levels = 0;
        try {
            while (isInner(inner) && isAlone(inner)) {
                levels += 1;
                inner = inner.getParent();
            }
        } catch (IOException error) {
            return null;
        }
        return Integer.valueOf(levels);
    }

    private boolean isAlone(org.apache.hadoop.fs.Path inner) throws IOException {
        RemoteIterator beside = inner.getFileSystem(conf).listStatusIterator(inner.getParent());
        while (beside.hasNext()) {
            String name = ((FileStatus) beside.next()).getPath().getName();
            if (!isHidden(name) && !name.equals(inner.getName())) {
                return false;
            }
        }
        return true;
    }

    /**
     * Adds all files in a folder to the writes that left them; returns false if there are too many.
     *
     * `FileSystem.listFiles` reads permissions, too: for local files it starts a process for each.
     */
    private boolean list(org.apache.hadoop.fs.Path root, Map writes) throws IOException {
        FileSystem system = root.getFileSystem(conf);
        ArrayDeque folders = new ArrayDeque();
        folders.push(root);
        int seen = 0;
        while (!folders.isEmpty()) {
            RemoteIterator files = system.listStatusIterator((org.apache.hadoop.fs.Path) folders.pop());
            while (files.hasNext()) {
                FileStatus file = (FileStatus) files.next();
                seen += 1;
                if (seen > MOST_FILES) {
                    return false;
                }
                if (isHidden(file.getPath().getName())) {
                    continue;
                }
                if (file.isDirectory()) {
                    folders.push(file.getPath());
                } else {
                    add(writes, file);
                }
            }
        }
        return true;
    }

    private static void add(Map writes, FileStatus file) {
        Matcher match = WRITE.matcher(file.getPath().getName());
        String key = file.getPath().toString();
        while (match.find()) {
            key = match.group();
        }
        long[] write = (long[]) writes.get(key);
        if (write == null) {
            write = new long[] {0, 0, Long.MAX_VALUE};
            writes.put(key, write);
        }
        write[0] += 1;
        write[1] += file.getLen();
        write[2] = Math.min(write[2], file.getModificationTime());
    }

    /** Returns whether Spark ignores a file or a folder with this name. */
    private static boolean isHidden(String name) {
        return name.startsWith(".") || name.startsWith("_") && name.indexOf('=') < 0;
    }
}
