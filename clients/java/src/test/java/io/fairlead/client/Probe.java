package io.fairlead.client;

import io.fairlead.client.json.JsonReader;
import io.fairlead.client.json.JsonWriter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** What the programs share that a test drives: settings as JSON, commands in, lines out. */
final class Probe {
  private static final BufferedReader IN =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  private static final PrintStream OUT = System.out;

  private Probe() {}

  /** Returns the settings of a JSON object. */
  static MemberSettings settings(Map<?, ?> given) throws Exception {
    MemberSettings.Builder builder = MemberSettings.builder();
    for (Map.Entry<?, ?> each : given.entrySet()) {
      Object value = each.getValue();
      switch ((String) each.getKey()) {
        case "gateways":
          for (Object gateway : (List<?>) value) {
            builder.gateway((String) gateway);
          }
          break;
        case "topics":
          for (Object topic : (List<?>) value) {
            builder.topics((String) topic);
          }
          break;
        case "group":
          builder.group((String) value);
          break;
        case "client_id":
          builder.clientId((String) value);
          break;
        case "consume_from":
          builder.consumeFrom((String) value);
          break;
        case "consume_timestamp_ms":
          builder.consumeTimestampMs((Long) value);
          break;
        case "capacity":
          builder.capacity(((Long) value).intValue());
          break;
        case "zone":
          builder.zone((String) value);
          break;
        case "ordered":
          builder.ordered((Boolean) value);
          break;
        case "token_file":
          builder.tokenFile(Paths.get((String) value));
          break;
        case "token_over_http":
          builder.tokenOverHttp((Boolean) value);
          break;
        case "ca_file":
          builder.ssl(trusting(Paths.get((String) value)));
          break;
        case "connect_timeout_ms":
          builder.connectTimeoutMs(((Long) value).intValue());
          break;
        case "hand_over_ms":
          builder.handOverMs(((Long) value).intValue());
          break;
        default:
          break;
      }
    }
    return builder.build();
  }

  private static SSLContext trusting(Path file) throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream in = Files.newInputStream(file)) {
      store.setCertificateEntry(
          "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  /** Returns the next command; none if there is no more. */
  static List<?> command() throws IOException {
    String line = IN.readLine();
    return line == null ? Collections.emptyList() : (List<?>) JsonReader.read(line);
  }

  /** Prints a line. */
  static void say(Object... row) {
    List<Object> values = new ArrayList<>();
    Collections.addAll(values, row);
    synchronized (OUT) {
      OUT.println(new String(JsonWriter.write(values), StandardCharsets.UTF_8));
      OUT.flush();
    }
  }
}
