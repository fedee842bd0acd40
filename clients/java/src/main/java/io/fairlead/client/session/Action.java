package io.fairlead.client.session;

import java.util.Collections;
import java.util.List;

/** What the session wants done. Each kind is a class of its own. */
public abstract class Action {
  private Action() {}

  /** Send a join; answer with {@code joined}, {@code failed} or {@code lost}. */
  public static final class SendJoin extends Action {
    /** The number of the join. */
    public final long number;

    SendJoin(long number) {
      this.number = number;
    }
  }

  /**
   * Give the poll under way up, and send this one; answer with {@code answered}, {@code failed} or
   * {@code lost}.
   */
  public static final class SendPoll extends Action {
    /** The poll. */
    public final Poll poll;

    SendPoll(Poll poll) {
      this.poll = poll;
    }
  }

  /**
   * Give the poll under way up, and end the session; answer with {@code left}, {@code failed} or
   * {@code lost}.
   */
  public static final class SendLeave extends Action {
    /** The last words. */
    public final Poll poll;

    SendLeave(Poll poll) {
      this.poll = poll;
    }
  }

  /** Read the queue from this offset on. */
  public static final class StartWork extends Action {
    /** The work. */
    public final WorkName name;

    /** The first offset to read. */
    public final long offset;

    /**
     * Whether the application holds the queue frozen: it goes on in place under this name, and
     * neither stops nor starts; the offset does not count.
     */
    public final boolean former;

    StartWork(WorkName name, long offset, boolean former) {
      this.name = name;
      this.offset = offset;
      this.former = former;
    }

    @Override
    public String toString() {
      return former ? "go on with " + name : "start " + name + " at " + offset;
    }
  }

  /** Follow the data plane's former strategy from now on, and keep what is held until then. */
  public static final class Follow extends Action {
    Follow() {}

    @Override
    public String toString() {
      return "follow";
    }
  }

  /** Keep exactly what is held, take nothing, follow nothing; answer with {@code frozen}. */
  public static final class Freeze extends Action {
    /** Names the freeze, and then each queue that the answer names. */
    public final Epoch epoch;

    Freeze(Epoch epoch) {
      this.epoch = epoch;
    }

    @Override
    public String toString() {
      return "freeze " + epoch;
    }
  }

  /**
   * Stop all that is held without a grant; answer with {@code unfollowed} when nothing of it runs.
   */
  public static final class StopFollowing extends Action {
    StopFollowing() {}

    @Override
    public String toString() {
      return "stop following";
    }
  }

  /**
   * Finish what is in hand and stop; answer with {@code stopped}. The epoch of a freeze names a
   * queue that the application holds since then without a grant.
   */
  public static final class StopWork extends Action {
    /** The work. */
    public final WorkName name;

    StopWork(WorkName name) {
      this.name = name;
    }

    @Override
    public String toString() {
      return "stop " + name;
    }
  }

  /** Stop this work at once: the deadline is over. No answer is wanted. */
  public static final class Abandon extends Action {
    /** The work. */
    public final WorkName name;

    Abandon(WorkName name) {
      this.name = name;
    }

    @Override
    public String toString() {
      return "abandon " + name;
    }
  }

  /**
   * Stop all work at once: the lease is over. Answer each work with {@code stopped}. What the
   * application holds by following stops as well; then it answers with {@code unfollowed}.
   */
  public static final class StopAll extends Action {
    /** Why the session is over. */
    public final String reason;

    /** The works. */
    public final List<WorkName> work;

    StopAll(String reason, List<WorkName> work) {
      this.reason = reason;
      this.work = Collections.unmodifiableList(work);
    }

    @Override
    public String toString() {
      return "stop all: " + reason;
    }
  }

  /** The session is closed. */
  public static final class Close extends Action {
    /** Who closed it: "left", or "duplicate_client_id". */
    public final String reason;

    Close(String reason) {
      this.reason = reason;
    }

    @Override
    public String toString() {
      return "closed: " + reason;
    }
  }
}
