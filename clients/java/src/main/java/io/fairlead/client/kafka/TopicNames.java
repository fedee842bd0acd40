package io.fairlead.client.kafka;

/** Kafka's names of topics. RocketMQ's names of retry topics have characters that Kafka refuses. */
final class TopicNames {
  private TopicNames() {}

  /** Returns Kafka's name of a topic. */
  static String onKafka(String topic) {
    if (!topic.startsWith("%RETRY%") && !topic.startsWith("%DLQ%")) {
      return topic;
    }
    StringBuilder name = new StringBuilder();
    for (int place = 0; place < topic.length(); place++) {
      char next = topic.charAt(place);
      int escape = "_%.|".indexOf(next);
      if (escape < 0) {
        name.append(next);
      } else {
        name.append('_').append("_-db".charAt(escape));
      }
    }
    return name.toString();
  }
}
