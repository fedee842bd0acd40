package io.fairlead.rocketmq.spring;

import io.fairlead.rocketmq.Fairlead;
import io.fairlead.rocketmq.Options;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.spring.annotation.RocketMQMessageListener;
import org.apache.rocketmq.spring.core.RocketMQListener;
import org.apache.rocketmq.spring.core.RocketMQPushConsumerLifecycleListener;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A Spring Boot application with two listeners, as a user writes them; it runs until it reads something. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class SpringProbe {
  /** Takes properties as {@code --name=value}. */
  public static void main(String[] arguments) throws Exception {
    SpringApplication application = new SpringApplication(SpringProbe.class);
    application.addListeners(event -> {
      if (event instanceof ApplicationReadyEvent) {
        say("ready");
      }
    });
    ConfigurableApplicationContext context = application.run(arguments);
    System.in.read();
    context.close();
    say("closed");
    System.exit(0);
  }

  static synchronized void say(String line) {
    System.out.println("probe " + line);
    System.out.flush();
  }

  /** Returns a listener of the group that is attached. */
  @Bean
  public Attended attended() {
    return new Attended();
  }

  /** Returns a listener of another group. */
  @Bean
  public Unattended unattended() {
    return new Unattended();
  }

  /** Says what it handles; attaches its consumer by itself if it has an address for that. */
  @RocketMQMessageListener(topic = "${probe.topic}", consumerGroup = "${probe.group}")
  public static class Attended
      implements RocketMQListener<String>, RocketMQPushConsumerLifecycleListener {
    @Value("${probe.gateway:}")
    private String gateway;

    @Override
    public void prepareStart(DefaultMQPushConsumer consumer) {
      if (!gateway.isEmpty()) {
        Fairlead.attach(consumer, Options.gateway(gateway).zone("z1"));
      }
    }

    @Override
    public void onMessage(String message) {
      say("attended " + message);
    }
  }

  /** Says what it handles. */
  @RocketMQMessageListener(topic = "${probe.topic}", consumerGroup = "${probe.group}-other")
  public static class Unattended implements RocketMQListener<String> {
    @Override
    public void onMessage(String message) {
      say("unattended " + message);
    }
  }
}
