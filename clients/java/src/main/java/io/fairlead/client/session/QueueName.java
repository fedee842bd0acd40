package io.fairlead.client.session;

import java.util.Objects;

/** A queue of a topic. On Kafka it is a partition, and the broker name is the cluster's name. */
public final class QueueName implements Comparable<QueueName> {
  /** The topic. */
  public final String topic;

  /** The broker's name; on Kafka the name of the cluster. */
  public final String brokerName;

  /** The number of the queue; on Kafka the partition. */
  public final int id;

  /** Names a queue. */
  public QueueName(String topic, String brokerName, int id) {
    this.topic = Objects.requireNonNull(topic, "topic");
    this.brokerName = Objects.requireNonNull(brokerName, "brokerName");
    this.id = id;
  }

  @Override
  public int compareTo(QueueName other) {
    int order = topic.compareTo(other.topic);
    if (order == 0) {
      order = brokerName.compareTo(other.brokerName);
    }
    return order != 0 ? order : Integer.compare(id, other.id);
  }

  @Override
  public boolean equals(Object other) {
    if (!(other instanceof QueueName)) {
      return false;
    }
    QueueName name = (QueueName) other;
    return id == name.id && topic.equals(name.topic) && brokerName.equals(name.brokerName);
  }

  @Override
  public int hashCode() {
    return (topic.hashCode() * 31 + brokerName.hashCode()) * 31 + id;
  }

  @Override
  public String toString() {
    return topic + "/" + brokerName + "/" + id;
  }
}
