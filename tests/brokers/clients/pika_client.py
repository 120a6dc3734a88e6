"""RabbitMQ as another client speaks to it: messages of every shape that pika can give them, and what it makes of ours.

pika_client.py write PORT QUEUE          says its version, then the name of each message that it has sent
pika_client.py read PORT QUEUE COUNT     says its version, then what stands in each message
"""

import datetime
import decimal
import json
import sys

import pika

TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "congo=t61rcWkgMzE"}
EVENT = {"specversion": "1.0", "id": "e-1", "source": "/shop", "type": "order.paid"}
OWN_TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
BODY = b'{ "amount": 1.50, "name": "\xc3\xa4" }'
WHEN = datetime.datetime(2024, 7, 15, 9, 30, tzinfo=datetime.timezone.utc)


def attributes(prefix, **more):
    return {prefix + name: value for name, value in {**EVENT, **more}.items()}


def properties(**given):
    return pika.BasicProperties(delivery_mode=2, **given)


MESSAGES = {
    "native": (properties(message_id="m-1", app_id="shop", type="order.paid", correlation_id="c-1",
                          content_type="application/json", content_encoding="utf-8", timestamp=1721035800, priority=3,
                          reply_to="answers", user_id="guest", headers={"tenant": "north", **TRACE}), BODY),
    "native with typed headers": (properties(message_id="m-2", headers={
        "yes": True, "no": False, "small": -7, "large": 2**40, "price": decimal.Decimal("12.50"),
        "loss": decimal.Decimal("-0.05"), "when": WHEN, "nothing": None, "text": "gr\u00fcn", "empty": "",
        "table": {"a": 1, "b": {"c": "d"}}, "list": ["x", 2, None, WHEN]}), b"typed"),
    "native without properties": (None, b"plain"),
    "native without a body": (properties(message_id="m-3", app_id="shop"), b""),
    "native with a header that is no text": (properties(message_id="m-4", headers={"raw": b"\xff\xfe\x01"}), b"x"),
    "native with a trace that is no text": (properties(message_id="m-5", headers={"traceparent": b"\xff"}), b"x"),
    "native with an id that is no text": (properties(message_id=b"m-\xff"), b"kept"),
    "native with a time in milliseconds": (properties(message_id="m-6", timestamp=1721035800000), b"x"),
    "structured": (properties(content_type="application/cloudevents+json; charset=UTF-8", message_id="not this"),
                   json.dumps({**EVENT, "time": "2024-07-15T09:30:00Z", "subject": "order-7", "correlationid": "c-1",
                               "sequence": "17", "datacontenttype": "application/json", "data": {"a": [1]},
                               "traceparent": OWN_TRACE}).encode()),
    "structured beside a trace": (properties(content_type="application/cloudevents+json", headers=dict(TRACE)),
                                  json.dumps({**EVENT, "data_base64": "AAH/"}).encode()),
    "structured without an id": (properties(content_type="application/cloudevents+json", message_id="not this"),
                                 b'{"specversion":"1.0","source":"/shop","type":"t"}'),
    "binary": (properties(content_type="application/json", message_id="not this", headers={
        **attributes("cloudEvents_", time="2024-07-15T09:30:00.25Z", subject="order-7", partitionkey="p-7",
                     causationid="c-0", sequence=17), "other": "kept", **TRACE}), BODY),
    "binary with the other prefix": (properties(headers={
        **attributes("cloudEvents:", time=WHEN, traceparent=OWN_TRACE, tracestate="rojo=1"), **TRACE}), b"\x00\xff"),
    "binary with a header that is no text": (properties(headers={**attributes("cloudEvents_"), "raw": b"\xff"}), b"x"),
    "binary with an attribute that is no text": (properties(headers=attributes("cloudEvents_", subject=b"\xff")), b"x"),
    "envelope beside a trace": (properties(content_type="application/vnd.onceward.envelope+json", headers=dict(TRACE)),
                                b'{"messageId":"m-7","producer":"shop","headers":{"a":"b"},"payload":{ "b":2 }}'),
}


def shown(value):
    """Bytes as text, or escaped where they are none."""
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "".join(chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}" for byte in value)


def write(channel, queue):
    channel.confirm_delivery()
    for name, (given, body) in MESSAGES.items():
        channel.basic_publish("", queue, body, given, mandatory=True)
        print(name)


def read(channel, queue, count):
    for method, given, body in channel.consume(queue, inactivity_timeout=60):
        if method is None:
            sys.exit("no message has come for a minute")
        print(f"--- {given.message_id}")
        for name, value in sorted(vars(given).items()):
            if value is not None and name not in ("headers", "message_id"):
                print(f"{name}: {shown(value)}")
        for name, value in (given.headers or {}).items():
            print(f"header {name}: {shown(value)}")
        print(f"body: {shown(body)}")
        channel.basic_ack(method.delivery_tag)
        if method.delivery_tag == int(count):
            break
    channel.cancel()


def main(action, port, queue, *more):
    print(f"pika {pika.__version__}")
    connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", int(port)))
    {"write": write, "read": read}[action](connection.channel(), queue, *more)
    connection.close()


main(*sys.argv[1:])
