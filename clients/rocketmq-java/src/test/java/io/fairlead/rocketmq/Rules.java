package io.fairlead.rocketmq;

import java.lang.reflect.Method;
import java.util.Objects;
import java.util.function.Supplier;

/** Runs the rules of classes: each method whose name begins so, on an object of its own. */
public final class Rules {
  private Rules() {}

  /** Prints one line a rule: its name, and what is broken. */
  public static void main(String[] arguments) {
    run(GateChecks.class, GateChecks::new);
    run(OffsetChecks.class, OffsetChecks::new);
    run(HeldChecks.class, HeldChecks::new);
    run(ListenerChecks.class, ListenerChecks::new);
    run(StartChecks.class, StartChecks::new);
    run(LeaveChecks.class, LeaveChecks::new);
    run(AttachChecks.class, AttachChecks::new);
    // RocketMQ's threads would keep the process alive.
    System.exit(0);
  }

  private static void run(Class<?> of, Supplier<?> made) {
    for (Method rule : of.getDeclaredMethods()) {
      if (rule.getName().startsWith("rule")) {
        System.out.println(rule.getName() + " " + outcome(rule, made));
      }
    }
  }

  private static String outcome(Method rule, Supplier<?> made) {
    try {
      rule.invoke(made.get());
      return "holds";
    } catch (ReflectiveOperationException error) {
      return "broken: " + error.getCause();
    }
  }

  static void same(Object expected, Object found) {
    if (!Objects.equals(expected, found)) {
      throw new IllegalStateException("expected " + expected + ", found " + found);
    }
  }
}
