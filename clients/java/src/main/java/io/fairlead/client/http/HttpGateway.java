package io.fairlead.client.http;

import io.fairlead.client.MemberSettings;
import io.fairlead.client.RefusedException;
import io.fairlead.client.json.JsonException;
import io.fairlead.client.session.Poll;
import io.fairlead.client.session.Subscription;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UnsupportedEncodingException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;

/**
 * Sends requests to the gateway over HTTP. A connection is used again by the next request. If an
 * address fails, the next request goes to the next one.
 */
public final class HttpGateway {
  private static final int BYTES_MAX = 8 * 1024 * 1024;
  private static final int DETAIL_MAX = 1_000;
  private static final long RETRY_AFTER_MAX_S = 60;

  private final List<URI> addresses;
  private final String group;
  private final MemberSettings settings;
  private final TokenFile token;
  // One factory for all requests: Java keeps a connection only for the factory that made it.
  private final SSLSocketFactory sockets;
  private final AtomicInteger current = new AtomicInteger();

  /** Makes a transport; it connects when the first request is sent. */
  public HttpGateway(MemberSettings settings) {
    this.settings = settings;
    addresses = settings.gateways();
    group = settings.group();
    token = settings.tokenFile() == null ? null : new TokenFile(settings.tokenFile());
    sockets = settings.ssl() == null ? null : settings.ssl().getSocketFactory();
  }

  /** Returns how many addresses the gateway has. */
  public int addresses() {
    return addresses.size();
  }

  /** Returns a join; a join with the same number makes the same session, however many arrive. */
  public Request join(
      Collection<Subscription> topics, ClientProcess process, int joins, long patienceMs) {
    String path = "/v1/groups/" + encoded(group) + "/members";
    byte[] body = GatewayWords.join(settings, process, joins, topics);
    String key = process.uuid + "-" + joins;
    return new Request(Kind.JOIN, path, body, key, patienceMs);
  }

  /** Returns a poll. */
  public Request poll(Poll poll, long patienceMs) {
    String path = "/v1/sessions/" + encoded(poll.session) + "/poll";
    return new Request(Kind.POLL, path, GatewayWords.poll(poll), null, patienceMs);
  }

  /** Returns the request that ends the session. */
  public Request leave(Poll poll, long patienceMs) {
    String path = "/v1/sessions/" + encoded(poll.session);
    return new Request(Kind.LEAVE, path, GatewayWords.leave(poll), null, patienceMs);
  }

  private enum Kind {
    JOIN,
    POLL,
    LEAVE
  }

  /** One request. {@link #send} blocks; {@link #abort} frees its thread. */
  public final class Request {
    private final Kind kind;
    private final String path;
    private final byte[] body;
    private final String key;
    private final int patienceMs;
    private volatile boolean aborted;
    private volatile HttpURLConnection connection;

    private Request(Kind kind, String path, byte[] body, String key, long patienceMs) {
      this.kind = kind;
      this.path = path;
      this.body = body;
      this.key = key;
      // A little less, so that the next request knows that this address does not answer.
      this.patienceMs = (int) Math.min(patienceMs * 9 / 10, Integer.MAX_VALUE);
    }

    /** Sends the request and returns what came of it; never throws for what the network does. */
    public Reply send() {
      int place = current.get();
      Reply reply;
      try {
        reply = exchange(addresses.get(place));
      } catch (IOException error) {
        reply = Reply.failed(addresses.get(place) + ": " + error, 0);
      }
      if (reply.failed != null && !aborted) {
        current.compareAndSet(place, (place + 1) % addresses.size());
      }
      return reply;
    }

    /** Gives the request up: whoever waits in {@link #send} returns soon. */
    public void abort() {
      aborted = true;
      HttpURLConnection open = connection;
      if (open != null) {
        open.disconnect();
      }
    }

    private Reply exchange(URI address) throws IOException {
      HttpURLConnection open =
          (HttpURLConnection) URI.create(address + path).toURL().openConnection();
      prepare(open);
      connection = open;
      if (aborted) {
        return Reply.failed("given up", 0);
      }
      try (OutputStream out = open.getOutputStream()) {
        out.write(body);
      }
      int status = open.getResponseCode();
      // A body that is read to its end leaves the connection to the next request.
      byte[] answer = contents(status < 400 ? open.getInputStream() : open.getErrorStream());
      return reply(status, answer, open.getHeaderField("Retry-After"));
    }

    private void prepare(HttpURLConnection open) throws IOException {
      if (open instanceof HttpsURLConnection && sockets != null) {
        ((HttpsURLConnection) open).setSSLSocketFactory(sockets);
      }
      open.setConnectTimeout(settings.connectTimeoutMs());
      open.setReadTimeout(patienceMs);
      open.setInstanceFollowRedirects(false);
      open.setUseCaches(false);
      open.setDoOutput(true);
      open.setRequestMethod(kind == Kind.LEAVE ? "DELETE" : "POST");
      open.setRequestProperty("Content-Type", "application/json");
      open.setRequestProperty("Accept", "application/json, application/problem+json");
      if (key != null) {
        open.setRequestProperty("Idempotency-Key", key);
      }
      if (token != null) {
        open.setRequestProperty("Authorization", "Bearer " + token.token());
      }
    }

    private Reply reply(int status, byte[] answer, String retryAfter) throws JsonException {
      if (status >= 200 && status < 300) {
        switch (kind) {
          case JOIN:
            return Reply.joined(GatewayWords.joined(answer));
          case POLL:
            return Reply.answered(GatewayWords.answer(answer));
          default:
            return Reply.left();
        }
      }
      Map<?, ?> problem = GatewayWords.problem(answer);
      String said = said(status, problem);
      if (status == HttpURLConnection.HTTP_CONFLICT) {
        Object reason = problem.get("reason");
        return Reply.lost(reason instanceof String ? (String) reason : "lost");
      }
      boolean passes = status == 408 || status == 425 || status == 429 || status >= 500;
      return passes
          ? Reply.failed(said, retryAfterMs(retryAfter))
          : Reply.refused(new RefusedException(status, said));
    }

    private String said(int status, Map<?, ?> problem) {
      StringBuilder said = new StringBuilder("the gateway answers ").append(status);
      for (String name : new String[] {"detail", "remedy"}) {
        if (problem.get(name) instanceof String) {
          String words = (String) problem.get(name);
          said.append(name.equals("detail") ? ": " : " ");
          said.append(words, 0, Math.min(words.length(), DETAIL_MAX));
        }
      }
      return said.toString();
    }
  }

  private static long retryAfterMs(String header) {
    if (header == null || !header.trim().matches("[0-9]{1,9}")) {
      return 0;
    }
    return Math.min(Long.parseLong(header.trim()), RETRY_AFTER_MAX_S) * 1_000;
  }

  private static byte[] contents(InputStream stream) throws IOException {
    if (stream == null) {
      return new byte[0];
    }
    try (InputStream in = stream) {
      ByteArrayOutputStream result = new ByteArrayOutputStream();
      byte[] part = new byte[8_192];
      for (int read = in.read(part); read >= 0; read = in.read(part)) {
        result.write(part, 0, read);
        if (result.size() > BYTES_MAX) {
          throw new IOException("the answer is longer than " + BYTES_MAX + " bytes");
        }
      }
      return result.toByteArray();
    }
  }

  private static String encoded(String part) {
    try {
      return URLEncoder.encode(part, "UTF-8").replace("+", "%20");
    } catch (UnsupportedEncodingException error) {
      throw new IllegalStateException(error);
    }
  }
}
