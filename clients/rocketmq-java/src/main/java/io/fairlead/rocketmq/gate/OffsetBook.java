package io.fairlead.rocketmq.gate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * How far the work on one queue is, in offsets. It is a book of its own because RocketMQ ignores the
 * result of every message that was in hand when its process queue was dropped
 * (ConsumeMessageConcurrentlyService.ConsumeRequest#run). The class is not safe for several threads.
 */
final class OffsetBook {
  private final TreeSet<Long> unfinished = new TreeSet<>();
  private final TreeSet<Long> inHand = new TreeSet<>();
  private final Set<Long> triedAgain = new HashSet<>();
  private long topFinished = -1;
  private long end;

  /** Begins at the granted offset: everything below it is somebody else's. */
  OffsetBook(long start) {
    end = start;
  }

  /** Notes a message that was fetched. The offsets of one queue come in order. */
  void fetched(long offset) {
    if (offset >= end) {
      unfinished.add(offset);
      end = offset + 1;
    }
  }

  /** Takes these messages in hand, or none: each has to be fetched, unfinished and not in hand. */
  boolean begin(Collection<Long> offsets) {
    for (Long offset : offsets) {
      if (!unfinished.contains(offset) || inHand.contains(offset)) {
        return false;
      }
    }
    inHand.addAll(offsets);
    return true;
  }

  /** These messages are processed. */
  void finish(Collection<Long> offsets) {
    inHand.removeAll(offsets);
    unfinished.removeAll(offsets);
    for (Long offset : offsets) {
      topFinished = Math.max(topFinished, offset);
    }
  }

  /**
   * Returns the first message that is neither finished nor in hand although a later one is; null if
   * there is none. What lies above it would come again at the next owner. Each counts once.
   */
  Long gap() {
    long top = inHand.isEmpty() ? topFinished : Math.max(topFinished, inHand.last());
    for (Long offset : unfinished.headSet(top)) {
      if (!inHand.contains(offset) && !triedAgain.contains(offset)) {
        return offset;
      }
    }
    return null;
  }

  /** Takes the first gap in hand. */
  Long beginGap() {
    Long offset = gap();
    if (offset != null) {
      triedAgain.add(offset);
      inHand.add(offset);
    }
    return offset;
  }

  /** These messages are not processed, and no longer in hand: they come again. */
  void putBack(Collection<Long> offsets) {
    inHand.removeAll(offsets);
  }

  /**
   * RocketMQ needs nothing below this offset any more. It passes over what the tags leave out, and
   * over what it has sent back by itself; what is in hand stays.
   *
   * @return what it has sent back
   */
  List<Long> passed(long offset) {
    List<Long> sentBack = new ArrayList<>(unfinished.headSet(offset));
    sentBack.removeAll(inHand);
    unfinished.removeAll(sentBack);
    end = Math.max(end, offset);
    return sentBack;
  }

  /** Returns the next offset to process: everything below it is finished. */
  long position() {
    return unfinished.isEmpty() ? end : unfinished.first();
  }
}
