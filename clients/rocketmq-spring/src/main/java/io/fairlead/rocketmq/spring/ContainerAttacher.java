package io.fairlead.rocketmq.spring;

import io.fairlead.rocketmq.Attached;
import io.fairlead.rocketmq.Fairlead;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Logger;
import org.apache.rocketmq.spring.support.DefaultRocketMQListenerContainer;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;

/**
 * Attaches the consumer of a container between its making, when it has its listener, and its start;
 * and lets it leave in order before the container shuts it down.
 */
public class ContainerAttacher implements DestructionAwareBeanPostProcessor {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");

  private final FairleadProperties properties;
  private final Map<Object, Attached> attached = new ConcurrentHashMap<>();

  ContainerAttacher(FairleadProperties properties) {
    this.properties = properties;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    if (bean instanceof DefaultRocketMQListenerContainer) {
      DefaultRocketMQListenerContainer container = (DefaultRocketMQListenerContainer) bean;
      String group = container.getConsumerGroup();
      if (properties.names(group)) {
        attached.put(bean, Fairlead.attach(container.getConsumer(), properties.options()));
        LOG.info("the consumer of " + group + " is attached (" + name + ")");
      }
    }
    return bean;
  }

  @Override
  public void postProcessBeforeDestruction(Object bean, String name) {
    Attached ending = attached.remove(bean);
    if (ending != null) {
      ending.close();
    }
  }

  @Override
  public boolean requiresDestruction(Object bean) {
    return attached.containsKey(bean);
  }
}
