package io.fairlead.rocketmq.spring;

import io.fairlead.rocketmq.Attached;
import io.fairlead.rocketmq.Fairlead;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Logger;
import org.apache.rocketmq.spring.support.DefaultRocketMQListenerContainer;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Attaches the consumer of a container between its making, when it has its listener, and its start;
 * and lets it leave in order before the container shuts it down.
 */
public class ContainerAttacher
    implements DestructionAwareBeanPostProcessor, ApplicationListener<ContextClosedEvent> {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");

  private final ApplicationContext context;
  private final FairleadProperties properties;
  private final Map<Object, Attached> attached = new ConcurrentHashMap<>();

  ContainerAttacher(ApplicationContext context) {
    this.context = context;
    properties = FairleadProperties.of(context.getEnvironment());
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

  /** Hands all queues over, before Spring stops the containers and destroys what listeners use. */
  @Override
  public void onApplicationEvent(ContextClosedEvent event) {
    if (event.getApplicationContext() != context) {
      return;
    }
    List<Thread> endings = new ArrayList<>();
    for (Attached each : attached.values()) {
      endings.add(new Thread(each::close, "fairlead-rocketmq-close"));
    }
    endings.forEach(Thread::start);
    try {
      for (Thread ending : endings) {
        ending.join();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
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
