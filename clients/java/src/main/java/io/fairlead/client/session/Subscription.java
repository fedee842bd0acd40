package io.fairlead.client.session;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** A topic that the client reads, and which tags of it; no tags mean all messages. */
public final class Subscription {
  /** The topic. */
  public final String topic;

  /** The tags; empty for all messages. */
  public final List<String> tags;

  /** Subscribes to these tags of a topic. */
  public Subscription(String topic, Collection<String> tags) {
    this.topic = Objects.requireNonNull(topic, "topic");
    this.tags = Collections.unmodifiableList(new ArrayList<>(tags));
  }

  /** Subscribes to all messages of a topic. */
  public Subscription(String topic) {
    this(topic, Collections.<String>emptyList());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Subscription
        && topic.equals(((Subscription) other).topic)
        && tags.equals(((Subscription) other).tags);
  }

  @Override
  public int hashCode() {
    return topic.hashCode() * 31 + tags.hashCode();
  }

  @Override
  public String toString() {
    return tags.isEmpty() ? topic : topic + tags;
  }
}
