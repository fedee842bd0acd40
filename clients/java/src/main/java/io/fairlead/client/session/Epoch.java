package io.fairlead.client.session;

/**
 * The number of one decision about a group. The epoch of a queue only grows, so a store that keeps
 * the greatest epoch it has seen can refuse whoever worked on the queue before.
 */
public final class Epoch implements Comparable<Epoch> {
  /** The engine's generation. */
  public final long generation;

  /** The number within the generation. */
  public final long number;

  /** Makes an epoch. */
  public Epoch(long generation, long number) {
    this.generation = generation;
    this.number = number;
  }

  @Override
  public int compareTo(Epoch other) {
    int order = Long.compare(generation, other.generation);
    return order != 0 ? order : Long.compare(number, other.number);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Epoch && compareTo((Epoch) other) == 0;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(generation) * 31 + Long.hashCode(number);
  }

  @Override
  public String toString() {
    return generation + "." + number;
  }
}
