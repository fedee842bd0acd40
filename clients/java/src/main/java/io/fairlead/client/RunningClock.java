package io.fairlead.client;

/**
 * Milliseconds that never go back and do not stand still while the machine sleeps. Java's own clock
 * may stand still then, and the lease would seem to hold. So a leap of the time of day counts too,
 * if it goes forwards.
 */
final class RunningClock {
  private static final long LEAP_MS = 1_000;

  private final long origin = System.nanoTime();
  private long leaptMs;
  private long lastMs;
  private long lastWallMs = System.currentTimeMillis();

  /** Returns the time. */
  synchronized long nowMs() {
    long runMs = (System.nanoTime() - origin) / 1_000_000;
    long wallMs = System.currentTimeMillis();
    long leapMs = (wallMs - lastWallMs) - (runMs - lastMs);
    if (leapMs > LEAP_MS) {
      leaptMs += leapMs;
    }
    lastMs = runMs;
    lastWallMs = wallMs;
    return runMs + leaptMs + 1;
  }
}
