package io.fairlead.client.http;

import java.util.UUID;

/** This client's process: of two clients with one client id, the later process goes on. */
public final class ClientProcess {
  final long startMs = System.currentTimeMillis();
  final String uuid = UUID.randomUUID().toString();
}
