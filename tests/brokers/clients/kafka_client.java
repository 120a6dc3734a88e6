// Kafka as its own client speaks to it: records of every shape, and what it makes of ours.
//
//   java -cp JARS kafka_client.java write BROKERS TOPIC         says its version, then the name of each record that it has sent
//   java -cp JARS kafka_client.java read BROKERS TOPIC COUNT    says its version, then what stands in each record

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;

class KafkaClient {
  static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  static final String STATE = "congo=t61rcWkgMzE";
  static final String OWN_PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  static final byte[] NO_TEXT = {(byte) 0xff, (byte) 0xfe, 1};
  static final String BODY = "{ \"amount\": 1.50, \"name\": \"\u00e4\" }";

  final KafkaProducer<byte[], byte[]> producer;
  final String topic;

  KafkaClient(String brokers, String topic) {
    this.topic = topic;
    producer = new KafkaProducer<>(Map.of("bootstrap.servers", brokers, "acks", "all"), new ByteArraySerializer(),
        new ByteArraySerializer());
  }

  static byte[] bytes(Object value) {
    return value instanceof String text ? text.getBytes(UTF_8) : (byte[]) value;
  }

  // Headers are a name and its value in turn.
  void send(String name, Object key, Object value, Object... headers) throws Exception {
    var record = new ProducerRecord<>(topic, 0, 1721035800000L, bytes(key), bytes(value));
    for (int at = 0; at < headers.length; at += 2) {
      record.headers().add((String) headers[at], bytes(headers[at + 1]));
    }
    producer.send(record).get();
    System.out.println(name);
  }

  void sendEvent(String name, Object key, Object value, Object... headers) throws Exception {
    var all = new java.util.ArrayList<Object>(List.of("ce_specversion", "1.0", "ce_id", "e-1", "ce_source", "/shop",
        "ce_type", "order.paid"));
    for (Object part : headers) all.add(part);
    send(name, key, value, all.toArray());
  }

  void write() throws Exception {
    send("native", "order-7", BODY, "id", "m-1", "content-type", "application/json", "tenant", "north", "traceparent",
        PARENT, "tracestate", STATE);
    send("native without anything", null, "plain");
    send("native with headers of every kind", "k", "x", "id", "m-2", "raw", NO_TEXT, "null", null, "empty", "", "twice",
        "1", "twice", "2", "id", "second", "gr\u00fcn", "\u00e4");
    send("native with a trace that is no text", "k", "x", "id", "m-3", "traceparent", NO_TEXT);
    send("native with an id that is no text", "k", "kept", "id", NO_TEXT);
    send("native with a key that is no text", NO_TEXT, "kept", "id", "m-4");
    send("native with an empty key and value", "", "", "id", "m-5");
    send("tombstone", "order-7", null, "id", "m-6");
    sendEvent("binary", "order-7", BODY, "ce_time", "2024-07-15T09:30:00.25Z", "ce_subject", "order-7",
        "ce_partitionkey", "p-7", "ce_correlationid", "c-1", "ce_sequence", "17", "content-type", "application/json",
        "other", "kept", "traceparent", PARENT, "tracestate", STATE);
    sendEvent("binary with a trace of its own", null, NO_TEXT, "traceparent", PARENT, "tracestate", STATE,
        "ce_traceparent", OWN_PARENT, "ce_tracestate", "rojo=1");
    sendEvent("binary with a header that is no text", null, "x", "raw", NO_TEXT, "traceparent", NO_TEXT);
    sendEvent("binary with an attribute that is no text", null, "x", "ce_subject", NO_TEXT);
    sendEvent("binary tombstone", "order-7", null);
    send("structured", "order-7",
        "{\"specversion\":\"1.0\",\"id\":\"e-1\",\"source\":\"/shop\",\"type\":\"order.paid\",\"subject\":\"order-7\","
            + "\"time\":\"2024-07-15T09:30:00Z\",\"data\":{ \"a\":[1] },\"traceparent\":\"" + OWN_PARENT + "\"}",
        "content-type", "application/cloudevents+json; charset=UTF-8", "id", "not this", "traceparent", PARENT);
    send("structured beside a trace", null,
        "{\"specversion\":\"1.0\",\"id\":\"e-2\",\"source\":\"/shop\",\"type\":\"t\",\"data_base64\":\"AAH/\"}",
        "content-type", "application/cloudevents+json", "traceparent", PARENT, "tracestate", STATE);
    send("structured without an id", null, "{\"specversion\":\"1.0\",\"source\":\"/shop\",\"type\":\"t\"}", "id",
        "not this", "content-type", "application/cloudevents+json");
    send("envelope beside a trace", "k",
        "{\"messageId\":\"m-7\",\"producer\":\"shop\",\"headers\":{\"a\":\"b\"},\"payload\":{ \"b\":2 }}", "traceparent",
        PARENT, "tracestate", STATE, "content-type", "application/vnd.onceward.envelope+json");
    producer.close();
  }

  // Bytes as text, or escaped where they are none.
  static String shown(byte[] value) {
    if (value == null) return "null";
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(value)).toString();
    } catch (CharacterCodingException none) {
      var text = new StringBuilder();
      for (byte one : value) text.append(one >= 32 && one < 127 ? "" + (char) one : String.format("\\x%02x", one));
      return text.toString();
    }
  }

  static void say(ConsumerRecord<byte[], byte[]> record) {
    System.out.println("--- " + shown(record.key()));
    for (Header header : record.headers()) System.out.println("header " + header.key() + ": " + shown(header.value()));
    System.out.println("value: " + shown(record.value()));
  }

  static void read(String brokers, String topic, int count) {
    try (var consumer = new KafkaConsumer<>(Map.<String, Object>of("bootstrap.servers", brokers),
             new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      var all = List.of(new TopicPartition(topic, 0));
      consumer.assign(all);
      consumer.seekToBeginning(all);
      for (int left = count; left > 0;) {
        var records = consumer.poll(Duration.ofMinutes(1));
        if (records.isEmpty()) throw new IllegalStateException("no record has come for a minute");
        for (var record : records) say(record);
        left -= records.count();
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    System.setOut(new java.io.PrintStream(System.out, true, UTF_8));
    System.out.println("kafka-clients " + AppInfoParser.getVersion());
    if (arguments[0].equals("write")) {
      new KafkaClient(arguments[1], arguments[2]).write();
    } else {
      read(arguments[1], arguments[2], Integer.parseInt(arguments[3]));
    }
  }
}
