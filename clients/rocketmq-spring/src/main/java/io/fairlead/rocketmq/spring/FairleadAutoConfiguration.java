package io.fairlead.rocketmq.spring;

import org.apache.rocketmq.spring.support.DefaultRocketMQListenerContainer;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Attaches the containers of {@code @RocketMQMessageListener} where properties name their groups. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(DefaultRocketMQListenerContainer.class)
@ConditionalOnProperty(prefix = FairleadProperties.PREFIX, name = "groups")
public class FairleadAutoConfiguration {
  /** Returns who attaches them. */
  @Bean
  public static ContainerAttacher fairleadContainerAttacher(ApplicationContext context) {
    return new ContainerAttacher(context);
  }
}
