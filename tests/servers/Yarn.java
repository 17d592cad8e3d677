import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * One ResourceManager, one NodeManager and HDFS on loopback: {@code java Yarn.java CONFIGURATION_FOLDER}.
 *
 * <p>Its data, the outputs of containers and a file with the URI of HDFS are in the working directory.
 */
public class Yarn {
  public static void main(String[] arguments) {
    try {
      start(new File(arguments[0]));
    } catch (Throwable failure) {
      failure.printStackTrace();
      // Threads of what has started would keep the process alive.
      System.exit(1);
    }
  }

  private static void start(File configuration) throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    MiniDFSCluster files =
        new MiniDFSCluster.Builder(conf, new File("hdfs").getAbsoluteFile()).numDataNodes(1).build();
    // Without it, the ports are free ones of the machine's own address.
    conf.setBoolean(YarnConfiguration.YARN_MINICLUSTER_FIXED_PORTS, true);
    for (String service :
        new String[] {
          YarnConfiguration.RM_ADDRESS,
          YarnConfiguration.RM_ADMIN_ADDRESS,
          YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS,
          YarnConfiguration.RM_SCHEDULER_ADDRESS,
          YarnConfiguration.RM_WEBAPP_ADDRESS,
          YarnConfiguration.NM_ADDRESS,
          YarnConfiguration.NM_LOCALIZER_ADDRESS,
          YarnConfiguration.NM_WEBAPP_ADDRESS
        }) {
      conf.set(service, "127.0.0.1:0");
    }
    // A container is assigned, and its end is noted, when the node reports; once a second by default.
    conf.setLong(YarnConfiguration.RM_NM_HEARTBEAT_INTERVAL_MS, 100);
    // It needs no file with queues.
    conf.set(
        YarnConfiguration.RM_SCHEDULER,
        "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler");
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 128);
    conf.setBoolean(YarnConfiguration.NM_PMEM_CHECK_ENABLED, false);
    conf.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    // YARN rejects a disk that is nine tenths full, and looks at the start even if the check is off.
    conf.setBoolean(YarnConfiguration.NM_DISK_HEALTH_CHECK_ENABLE, false);
    conf.setFloat(YarnConfiguration.NM_MAX_PER_DISK_UTILIZATION_PERCENTAGE, 100);
    conf.setLong(YarnConfiguration.NM_SLEEP_DELAY_BEFORE_SIGKILL_MS, 100);
    // Outputs of containers are deleted at once, by a service that deletes nothing: a node that has
    // outputs to delete later takes a quarter of a minute to stop.
    conf.setLong(YarnConfiguration.NM_LOG_RETAIN_SECONDS, 0);
    conf.setInt(YarnConfiguration.DEBUG_NM_DELETE_DELAY_SEC, -1);
    MiniYARNCluster cluster = new MiniYARNCluster("cluster", 1, 1, 1);
    cluster.init(conf);
    // Containers are sessions of their own, which do not end with this process.
    Runtime.getRuntime().addShutdownHook(new Thread(cluster::stop));
    cluster.start();
    if (!cluster.waitForNodeManagersToConnect(60_000)) {
      throw new IllegalStateException("the NodeManager did not register");
    }
    Configuration running = cluster.getConfig(), client = new Configuration(false);
    client.set("fs.defaultFS", files.getURI().toString());
    for (String service :
        new String[] {
          YarnConfiguration.RM_ADDRESS,
          YarnConfiguration.RM_SCHEDULER_ADDRESS,
          YarnConfiguration.RM_WEBAPP_ADDRESS
        }) {
      client.set(service, running.get(service));
    }
    // Hadoop reads the first name, and where there is YARN the second as well.
    for (String name : new String[] {"core-site.xml", "yarn-site.xml"}) {
      try (OutputStream out = new FileOutputStream(new File(configuration, name))) {
        client.writeXml(out);
      }
    }
    Files.writeString(Path.of("files"), files.getURI().toString());
    System.out.println("YARN is ready");
    Thread.currentThread().join();
  }
}
