package io.fairlead.client;

import java.util.Random;

/** How long to wait after requests that failed: longer each time, and each client differently. */
final class Pauses {
  static final long POLL_MAX_MS = 1_000;
  static final long JOIN_MAX_MS = 5_000;

  private static final long FIRST_MS = 400;
  private static final int DOUBLED_MAX = 10;

  private final Random chance;
  private final int addresses;
  private int failures;

  Pauses(int addresses, Random chance) {
    this.addresses = addresses;
    this.chance = chance;
  }

  /** A request was answered as it should be. */
  void succeeded() {
    failures = 0;
  }

  /**
   * Returns how long to wait after a failure. While there is an address that has not been tried
   * since the last success, nobody waits.
   *
   * @param mostMs the longest pause
   */
  long failed(long mostMs) {
    failures++;
    if (failures % addresses != 0) {
      return 0;
    }
    int doubled = Math.min(failures / addresses - 1, DOUBLED_MAX);
    long longest = Math.min(mostMs, FIRST_MS << doubled);
    return longest / 2 + (long) (chance.nextDouble() * (longest / 2));
  }
}
