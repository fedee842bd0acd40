package io.fairlead.rocketmq.gate;

import java.util.Collection;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The gate before a listener, for one queue under one epoch. A message reaches the listener only
 * through {@link #enter}, and the queue may be released only once nobody is inside.
 *
 * <p>The gate closes, and RocketMQ's process queue is dropped, in one critical section: whoever is
 * refused finds the process queue dropped, so RocketMQ takes no notice of the refused result.
 */
public final class QueueGate {
  private OffsetBook book;
  private final BooleanSupplier lease;
  private final Runnable drop;
  private final Runnable quiet;
  private boolean closed;
  private boolean lost;
  private int inside;

  /**
   * Makes an open gate.
   *
   * @param start the granted offset
   * @param lease whether the queue is the member's at this moment, by the clock
   * @param drop drops the process queue; called once, inside the critical section
   * @param quiet called outside of it whenever a closed gate has nobody inside any more
   */
  public QueueGate(long start, BooleanSupplier lease, Runnable drop, Runnable quiet) {
    book = new OffsetBook(start);
    this.lease = lease;
    this.drop = drop;
    this.quiet = quiet;
  }

  /** Begins at another offset, before anything was fetched. */
  public synchronized void beginAt(long start) {
    book = new OffsetBook(start);
  }

  /** Notes messages that were fetched, in the order of their offsets. */
  public synchronized void fetched(Collection<Long> offsets) {
    for (Long offset : offsets) {
      book.fetched(offset);
    }
  }

  /**
   * Lets a listener begin these messages, if the gate is open and the lease holds. A message that
   * is not the member's, or begins a second time, closes the gate: somebody else feeds the queue.
   */
  public synchronized boolean enter(Collection<Long> offsets) {
    if (!closed && !(lease.getAsBoolean() && book.begin(offsets))) {
      close();
    }
    if (closed) {
      return false;
    }
    inside++;
    return true;
  }

  /** A listener that has entered is done: it has processed these, and those come again. */
  public void leave(Collection<Long> finished, Collection<Long> putBack) {
    boolean isQuiet;
    synchronized (this) {
      book.finish(finished);
      book.putBack(putBack);
      inside--;
      isQuiet = mayRelease();
    }
    if (isQuiet) {
      quiet.run();
    }
  }

  /**
   * RocketMQ has no message below this offset any more. Returns the messages that it has sent back by
   * itself; null if the gate is closed: what it hears then is too late.
   */
  public synchronized List<Long> passed(long offset) {
    return closed ? null : book.passed(offset);
  }

  /** Closes the gate and drops the process queue. Whoever is inside goes on. */
  public synchronized void close() {
    if (!closed) {
      closed = true;
      drop.run();
    }
  }

  /** Closes the gate because the queue is lost: what is not in hand stays for the next owner. */
  public synchronized void abandon() {
    lost = true;
    close();
  }

  /**
   * Returns whether a closed gate has left a message out although a later one has begun: threads of a
   * pool come in any order. It is to be processed yet, or the later one would begin a second time.
   */
  public synchronized boolean hasGap() {
    return closed && !lost && lease.getAsBoolean() && book.gap() != null;
  }

  /** Lets somebody begin the first such message, and returns its offset; null if there is none. */
  public synchronized Long enterGap() {
    if (!hasGap()) {
      return null;
    }
    inside++;
    return book.beginGap();
  }

  /** Returns whether the gate is closed. */
  public synchronized boolean isClosed() {
    return closed;
  }

  /** Returns whether the queue may have another owner: the gate is closed and nobody is inside. */
  public synchronized boolean mayRelease() {
    return closed && inside == 0 && !hasGap();
  }

  /** Returns how many calls of the listener are under way. */
  public synchronized int inside() {
    return inside;
  }

  /** Returns the next offset to process. */
  public synchronized long position() {
    return book.position();
  }
}
