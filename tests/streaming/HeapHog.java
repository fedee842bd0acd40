import java.lang.instrument.Instrumentation;
import java.nio.file.*;
import java.util.*;

/** An agent that takes the heap of its JVM when a file appears, as whatever needs too much would. */
public class HeapHog {
    static final List<byte[]> TAKEN = new ArrayList<>();

    public static void premain(String file, Instrumentation instrumentation) {
        Thread thread = new Thread(() -> run(Path.of(file)), "heap-hog");
        thread.setDaemon(true);
        thread.start();
    }

    static void run(Path file) {
        try {
            while (!Files.exists(file)) Thread.sleep(100);
            while (true) TAKEN.add(new byte[400_000]);
        } catch (Exception error) {
            error.printStackTrace();
        }
    }
}
