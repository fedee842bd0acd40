package io.fairlead.client.kafka;

import io.fairlead.client.session.Action;
import io.fairlead.client.session.QueueName;
import io.fairlead.client.session.WorkName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * The works of one consumer. The thread that polls adds and removes works; any thread may finish
 * records.
 */
final class WorkTable {
  private final Map<QueueName, QueueWork> works = new LinkedHashMap<>();
  private final Map<TopicPartition, QueueWork> places = new HashMap<>();
  /** Lost works with records in hand: the client stays out until they are finished. */
  private final List<QueueWork> lost = new ArrayList<>();

  /** Applies what the member says, and returns the works that are lost by it. */
  synchronized List<QueueWork> apply(List<Action> actions) {
    List<QueueWork> gone = new ArrayList<>();
    for (Action action : actions) {
      if (action instanceof Action.StartWork) {
        Action.StartWork start = (Action.StartWork) action;
        QueueWork work = new QueueWork(start.name, start.offset);
        works.put(start.name.queue, work);
        places.put(work.partition, work);
      } else if (action instanceof Action.StopWork) {
        QueueWork work = find(((Action.StopWork) action).name);
        if (work != null) {
          work.stopping = true;
        }
      } else if (action instanceof Action.Abandon) {
        remove(((Action.Abandon) action).name, gone);
      } else if (action instanceof Action.StopAll) {
        int before = gone.size();
        for (WorkName name : ((Action.StopAll) action).work) {
          remove(name, gone);
        }
        lost.addAll(gone.subList(before, gone.size()));
      }
    }
    return gone;
  }

  private QueueWork find(WorkName name) {
    QueueWork work = works.get(name.queue);
    return work != null && work.name.equals(name) ? work : null;
  }

  private void remove(WorkName name, List<QueueWork> gone) {
    QueueWork work = find(name);
    if (work != null) {
      end(work);
      gone.add(work);
    }
  }

  /** Returns the works, in the order of their starts. */
  synchronized List<QueueWork> works() {
    return new ArrayList<>(works.values());
  }

  /** Takes a work out. */
  synchronized void end(QueueWork work) {
    works.remove(work.name.queue, work);
    places.remove(work.partition, work);
  }

  /** Returns the work on a partition; null if there is none. */
  synchronized QueueWork at(TopicPartition partition) {
    return places.get(partition);
  }

  /** Takes out and returns the lost works that have nothing in hand any more. */
  synchronized List<QueueWork> takeLost(boolean whateverIsInHand) {
    List<QueueWork> result = new ArrayList<>();
    for (Iterator<QueueWork> each = lost.iterator(); each.hasNext(); ) {
      QueueWork work = each.next();
      if (whateverIsInHand || work.inHand() == 0) {
        result.add(work);
        each.remove();
      }
    }
    return result;
  }

  /** Notes that a record is processed, and returns whether somebody waits for that. */
  synchronized boolean finish(ConsumerRecord<?, ?> record) {
    TopicPartition partition = new TopicPartition(record.topic(), record.partition());
    QueueWork work = at(partition);
    if (work != null && work.finish(record)) {
      return work.full || work.stopping && work.inHand() == 0;
    }
    for (QueueWork each : lost) {
      if (each.partition.equals(partition) && each.finish(record)) {
        return each.inHand() == 0;
      }
    }
    return false;
  }

  /** Notes that everything in hand is processed. */
  synchronized void finishAll() {
    works.values().forEach(QueueWork::finishAll);
    lost.forEach(QueueWork::finishAll);
  }
}
