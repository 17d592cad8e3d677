package sparklineage;

import java.io.File;
import java.io.OutputStream;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Iterator;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;

/** Writes compiled classes to a jar file, in a thread of its own, so that the program does not wait. */
public class ClassesFile extends Thread {
    private final Map classes;
    private final Path target;

    /** `classes`: name of a class -> its bytes. */
    public ClassesFile(Map classes, String path) {
        super("spark-lineage-classes");
        this.classes = classes;
        target = new File(path).toPath();
        setDaemon(true);
        setPriority(MIN_PRIORITY);
    }

    public void run() {
        try {
            // A new temporary file belongs to the user alone.
            Path part = Files.createTempFile(target.getParent(), ".part", "", new FileAttribute[0]);
            try {
                write(Files.newOutputStream(part, new OpenOption[0]));
                Files.move(part, target, new CopyOption[] {StandardCopyOption.ATOMIC_MOVE});
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (Throwable error) {
            // Without the file, the next JVM compiles again.
        }
    }

    private void write(OutputStream file) throws Exception {
        JarOutputStream out = new JarOutputStream(file);
        try {
            for (Iterator each = classes.entrySet().iterator(); each.hasNext();) {
                Map.Entry entry = (Map.Entry) each.next();
                out.putNextEntry(new JarEntry(((String) entry.getKey()).replace('.', '/') + ".class"));
                out.write((byte[]) entry.getValue());
            }
        } finally {
            out.close();
        }
    }
}
