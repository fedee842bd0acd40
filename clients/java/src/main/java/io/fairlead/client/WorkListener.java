package io.fairlead.client;

import io.fairlead.client.session.Action;

/**
 * Hears what the application has to do. The member calls it in order, one call at a time, and waits
 * until it returns: take note, let another thread do the work, and return at once.
 */
public interface WorkListener {
  /**
   * Start, stop or abandon work: {@link Action.StartWork}, {@link Action.StopWork}, {@link
   * Action.Abandon}, {@link Action.StopAll} or {@link Action.Close}. One that stands by also hears
   * {@link Action.Follow}, {@link Action.Freeze} and {@link Action.StopFollowing}.
   */
  void onAction(Action action);
}
