// Debezium's embedded engine as a relay: what its connector and transforms make of the outbox, as Kafka would get it.
//
//   java -cp JARS relay.java PROPERTIES COUNT
//
// says a line for each of COUNT messages: "message", topic, key, the bytes of the value in hexadecimal, and the headers as name=value,
// with tabs between them. Heartbeats are not shown. Ends with an error when nothing comes for a minute.

import static java.nio.charset.StandardCharsets.UTF_8;

import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import java.io.FileReader;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;

class Relay {
  static final int PATIENCE_SECONDS = 60;

  final Properties settings;
  final Converter keys;
  final Converter values;
  final HeaderConverter headers;
  final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
  final CompletableFuture<Void> ended = new CompletableFuture<>();

  // Converters are Kafka Connect's: the engine hands out records as they are before them.
  Relay(Properties settings) throws Exception {
    this.settings = settings;
    keys = (Converter) make("key.converter");
    keys.configure(of("key.converter."), true);
    values = (Converter) make("value.converter");
    values.configure(of("value.converter."), false);
    headers = (HeaderConverter) make("header.converter");
    headers.configure(Map.of("converter.type", "header"));
  }

  Object make(String name) throws Exception {
    return Class.forName((String) settings.remove(name)).getDeclaredConstructor().newInstance();
  }

  Map<String, Object> of(String prefix) {
    var found = new HashMap<String, Object>();
    for (String name : settings.stringPropertyNames()) {
      if (name.startsWith(prefix)) found.put(name.substring(prefix.length()), settings.remove(name));
    }
    return found;
  }

  static String text(byte[] bytes) {
    return bytes == null ? "(null)" : new String(bytes, UTF_8);
  }

  void take(SourceRecord record) {
    String topic = record.topic();
    byte[] value = values.fromConnectData(topic, record.valueSchema(), record.value());
    if (topic.startsWith("__debezium-heartbeat")) return;
    var line = new StringBuilder("message\t").append(topic);
    line.append('\t').append(text(keys.fromConnectData(topic, record.keySchema(), record.key())));
    line.append('\t').append(value == null ? "(null)" : HexFormat.of().formatHex(value));
    for (var header : record.headers()) {
      byte[] bytes = headers.fromConnectHeader(topic, header.key(), header.schema(), header.value());
      line.append('\t').append(header.key()).append('=').append(text(bytes));
    }
    lines.add(line.toString());
  }

  String next() throws Exception {
    for (int seconds = 0; seconds < PATIENCE_SECONDS; ++seconds) {
      if (ended.isDone()) ended.get();
      String line = lines.poll(1, TimeUnit.SECONDS);
      if (line != null) return line;
    }
    throw new IllegalStateException("no message has come for a minute");
  }

  void run(int count) throws Exception {
    DebeziumEngine<RecordChangeEvent<SourceRecord>> engine = DebeziumEngine.create(ChangeEventFormat.of(Connect.class))
        .using(settings)
        .using((success, message, error) -> {
          if (success) ended.complete(null);
          else ended.completeExceptionally(new IllegalStateException(message, error));
        })
        .notifying(event -> take(event.record()))
        .build();
    new Thread(engine).start();
    for (int left = count; left > 0; --left) System.out.println(next());
    engine.close();
    ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  public static void main(String[] arguments) throws Exception {
    System.setOut(new PrintStream(System.out, true, UTF_8));
    var settings = new Properties();
    try (var reader = new FileReader(arguments[0], UTF_8)) {
      settings.load(reader);
    }
    try {
      new Relay(settings).run(Integer.parseInt(arguments[1]));
    } catch (Exception error) {
      error.printStackTrace();
      System.exit(1);  // threads of the engine may still run
    }
    System.exit(0);
  }
}
