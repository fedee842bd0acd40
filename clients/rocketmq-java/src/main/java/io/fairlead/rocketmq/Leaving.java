package io.fairlead.rocketmq;

import java.util.function.LongConsumer;

/**
 * When an attached consumer leaves, and how long it works on meanwhile. Its listeners go on as long
 * as RocketMQ's consumer runs: whoever shuts that down has ended them.
 */
final class Leaving {
  private final long handOverMs;
  private final LongConsumer leave;
  private boolean begun;
  private boolean hurried;

  /**
   * Makes one that stays.
   *
   * @param handOverMs how long a consumer that closes works on
   * @param leave leaves with so many ms to hand over; a second call shortens that
   */
  Leaving(long handOverMs, LongConsumer leave) {
    this.handOverMs = handOverMs;
    this.leave = leave;
  }

  /**
   * Looks once, and returns whether the leave begins now.
   *
   * @param closing whether somebody closes the attached consumer
   * @param running whether RocketMQ's consumer runs
   */
  boolean look(boolean closing, boolean running) {
    if (running && (begun || !closing) || hurried) {
      return false;
    }
    boolean begins = !begun;
    begun = true;
    hurried = !running;
    leave.accept(running ? handOverMs : 0);
    return begins;
  }
}
