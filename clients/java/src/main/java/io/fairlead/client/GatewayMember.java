package io.fairlead.client;

import io.fairlead.client.http.ClientProcess;
import io.fairlead.client.http.HttpGateway;
import io.fairlead.client.http.Reply;
import io.fairlead.client.session.Action;
import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.Poll;
import io.fairlead.client.session.QueueName;
import io.fairlead.client.session.Standing;
import io.fairlead.client.session.Subscription;
import io.fairlead.client.session.ThinSession;
import io.fairlead.client.session.ThinState;
import io.fairlead.client.session.WorkName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * A member of a group, without a data plane: it joins, polls, and tells a {@link WorkListener} what
 * to start and to stop. One daemon thread keeps the clock; each request under way has another.
 *
 * <p>All methods may be called by any thread, and none of them waits for the network.
 */
public final class GatewayMember {
  private static final Logger LOG = Logger.getLogger("io.fairlead.client");
  /** Requests that were given up and may still be under way; one more frees the oldest's thread. */
  private static final int OPEN_MAX = 3;

  private final Object lock = new Object();
  private final ThinSession session;
  private final RunningClock clock = new RunningClock();
  private final HttpGateway gateway;
  private final WorkListener listener;
  private final Pauses pauses;
  private final ExecutorService requests;
  private final ClientProcess process = new ClientProcess();
  private final Deque<HttpGateway.Request> open = new ArrayDeque<>();
  private final Thread control;

  private List<Subscription> topics;
  private Action waiting;
  private long notBeforeMs;
  private int joins = 1;
  private RefusedException refusal;
  private String lastFailure;
  private String closed;
  private boolean halted;

  /** Makes a member; it does nothing before {@link #start}. */
  public GatewayMember(MemberSettings settings, WorkListener listener) {
    this.listener = listener;
    session = new ThinSession(settings.follows() != null);
    gateway = new HttpGateway(settings);
    pauses = new Pauses(gateway.addresses(), new Random());
    topics = settings.topics();
    requests =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            30,
            TimeUnit.SECONDS,
            new SynchronousQueue<Runnable>(),
            work -> daemon(work, "fairlead-request"));
    control = daemon(this::run, "fairlead-control-" + settings.group());
  }

  private static Thread daemon(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Begins to join. */
  public void start() {
    control.start();
  }

  /** Returns the epoch under which the application may work on the queue now; null: it may not. */
  public Epoch works(QueueName queue) {
    synchronized (lock) {
      return session.works(queue, clock.nowMs());
    }
  }

  /** Returns who decides what the member holds. */
  public Standing standing() {
    synchronized (lock) {
      return session.standing();
    }
  }

  /** Returns whether the application may work now on what it holds by following. */
  public boolean follows() {
    synchronized (lock) {
      return session.follows(clock.nowMs());
    }
  }

  /** Returns what the member waits for. */
  public ThinState state() {
    synchronized (lock) {
      return session.state();
    }
  }

  /** Returns why the gateway refuses the member; null if it does not, or holds a lease for it. */
  public RefusedException refusal() {
    synchronized (lock) {
      return session.state() == ThinState.JOINING ? refusal : null;
    }
  }

  /** Returns why the last request failed; null if it did not. */
  public String lastFailure() {
    synchronized (lock) {
      return lastFailure;
    }
  }

  /** Returns why the member is closed; null while it is not. */
  public String closed() {
    synchronized (lock) {
      return closed;
    }
  }

  /** All messages of the queue below {@code offset} are processed; {@code end} may be null. */
  public void progressed(WorkName name, long offset, Long end) {
    synchronized (lock) {
      act(session.progressed(name, offset, end, clock.nowMs()));
    }
  }

  /** The application has stopped this work; with a null offset the last progress holds. */
  public void stopped(WorkName name, Long offset, Long end) {
    synchronized (lock) {
      act(session.stopped(name, offset, end, clock.nowMs()));
    }
  }

  /**
   * The application answers {@link Action.Freeze}: it holds these queues, and takes none. Each has
   * its next offset; null if the application does not know it.
   */
  public void frozen(Epoch epoch, Map<QueueName, Long> held) {
    synchronized (lock) {
      act(session.frozen(epoch, held, clock.nowMs()));
    }
  }

  /** Nothing runs any more that the application held without a grant. */
  public void unfollowed() {
    synchronized (lock) {
      act(session.unfollowed(clock.nowMs()));
    }
  }

  /** Reads other topics from now on. */
  public void subscribe(Collection<Subscription> wanted) {
    MemberSettings.checkTopics(wanted);
    synchronized (lock) {
      topics = new ArrayList<>(wanted);
      act(session.subscribe(topics, clock.nowMs()));
    }
  }

  /**
   * Begins to leave: the member stops all work and then ends the session. Others hear of it at once.
   *
   * @param handOverMs how long the member works on until the gateway has named who takes each queue
   *     over; 0: it stops at once. A later call may shorten it
   */
  public void leave(long handOverMs) {
    synchronized (lock) {
      act(session.leave(clock.nowMs(), handOverMs));
    }
  }

  /** Waits until the member is closed, and returns whether it is. */
  public boolean awaitClosed(long timeoutMs) throws InterruptedException {
    long untilMs = clock.nowMs() + timeoutMs;
    synchronized (lock) {
      for (long left = timeoutMs; closed == null && left > 0; left = untilMs - clock.nowMs()) {
        lock.wait(left);
      }
      return closed != null;
    }
  }

  /** Ends all threads without a word; the lease ends by itself. */
  public void halt() {
    synchronized (lock) {
      halted = true;
      lock.notifyAll();
    }
  }

  // The thread that keeps the clock.

  private void run() {
    synchronized (lock) {
      try {
        while (!halted && session.state() != ThinState.CLOSED) {
          act(session.passed(clock.nowMs()));
          sendWhatWaits();
          long dueMs = session.nextDeadlineMs();
          dueMs = waiting == null ? dueMs : Math.min(dueMs, notBeforeMs);
          lock.wait(Math.max(1, dueMs - clock.nowMs()));
        }
      } catch (InterruptedException | RuntimeException error) {
        LOG.log(Level.SEVERE, "the control thread ends by an error; the lease will end", error);
      } finally {
        closed = closed == null ? "halted" : closed;
        halted = true;
        lock.notifyAll();
        for (HttpGateway.Request request : open) {
          request.abort();
        }
        requests.shutdown();
      }
    }
  }

  private void act(List<Action> actions) {
    for (Action action : actions) {
      if (action instanceof Action.SendJoin
          || action instanceof Action.SendPoll
          || action instanceof Action.SendLeave) {
        waiting = action;
        continue;
      }
      if (action instanceof Action.StopAll || action instanceof Action.Close) {
        LOG.info(action.toString());
        waiting = null;
      }
      if (action instanceof Action.Close) {
        closed = ((Action.Close) action).reason;
      }
      try {
        listener.onAction(action);
      } catch (RuntimeException error) {
        LOG.log(Level.SEVERE, "the listener failed at: " + action, error);
      }
    }
    lock.notifyAll();
  }

  /** Sends the newest request, if no pause holds it back. Those before it are given up. */
  private void sendWhatWaits() {
    if (waiting == null || clock.nowMs() < notBeforeMs) {
      return;
    }
    Action action = waiting;
    waiting = null;
    long patienceMs = session.patienceMs();
    if (action instanceof Action.SendJoin) {
      long number = ((Action.SendJoin) action).number;
      send(gateway.join(topics, process, joins, patienceMs), number, Pauses.JOIN_MAX_MS);
    } else if (action instanceof Action.SendPoll) {
      Poll poll = ((Action.SendPoll) action).poll;
      send(gateway.poll(poll, patienceMs), poll.sequence, Pauses.POLL_MAX_MS);
    } else {
      Poll poll = ((Action.SendLeave) action).poll;
      send(gateway.leave(poll, patienceMs), poll.sequence, Pauses.POLL_MAX_MS);
    }
  }

  private void send(HttpGateway.Request request, long number, long pauseMaxMs) {
    open.add(request);
    while (open.size() > OPEN_MAX) {
      open.removeFirst().abort();
    }
    try {
      requests.execute(() -> exchange(request, number, pauseMaxMs));
    } catch (OutOfMemoryError error) {
      // There is no thread for it now.
      open.remove(request);
      hear(number, null, pauseMaxMs);
    }
  }

  private void exchange(HttpGateway.Request request, long number, long pauseMaxMs) {
    Reply reply = null;
    try {
      reply = request.send();
    } finally {
      // Whatever went wrong: the session hears that no answer comes.
      synchronized (lock) {
        open.remove(request);
        hear(number, reply, pauseMaxMs);
      }
    }
  }

  private void hear(long number, Reply reply, long pauseMaxMs) {
    if (halted) {
      return;
    }
    long nowMs = clock.nowMs();
    boolean isNewest = number == session.newest();
    if (reply == null || reply.failed != null || reply.refused != null) {
      if (isNewest) {
        pause(reply, pauseMaxMs, nowMs);
      }
      act(session.failed(number, nowMs));
    } else if (reply.lost != null) {
      if (isNewest) {
        notBeforeMs = nowMs + pauses.failed(Pauses.JOIN_MAX_MS);
      }
      act(session.lost(number, reply.lost, nowMs));
    } else if (reply.joined != null) {
      act(session.joined(number, reply.joined, nowMs));
      if (isNewest) {
        // A join that comes late from now on would make the same session, and nothing new.
        joins++;
        notBeforeMs = nowMs;
        refusal = null;
      }
    } else if (reply.answer != null) {
      if (isNewest) {
        pauses.succeeded();
        refusal = null;
        lastFailure = null;
        notBeforeMs = nowMs;
      }
      act(session.answered(number, reply.answer, nowMs));
    } else {
      act(session.left(nowMs));
    }
  }

  private void pause(Reply reply, long pauseMaxMs, long nowMs) {
    long pauseMs = pauses.failed(pauseMaxMs);
    refusal = reply == null ? null : reply.refused;
    String why = reply == null ? "the request ended by an error" : reply.failed;
    why = refusal == null ? why : refusal.getMessage();
    if (!why.equals(lastFailure)) {
      LOG.warning(why);
    }
    lastFailure = why;
    long asked = reply == null ? 0 : Math.min(reply.retryAfterMs, pauseMaxMs);
    notBeforeMs = nowMs + Math.max(pauseMs, asked);
  }
}
