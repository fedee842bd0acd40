/** Says what time it is, and how many milliseconds a wait of 200 ms takes, by each means of Java. */
public class Waits {
    public static void main(String[] arguments) throws Exception {
        System.out.println(System.currentTimeMillis());
        Object any = new Object();
        long began = System.nanoTime();
        synchronized (any) {
            any.wait(200);
        }
        told(began);
        began = System.nanoTime();
        java.util.concurrent.locks.LockSupport.parkNanos(200_000_000);
        told(began);
        began = System.nanoTime();
        Thread.sleep(200);
        told(began);
    }

    static void told(long began) {
        System.out.println((System.nanoTime() - began) / 1_000_000);
    }
}
