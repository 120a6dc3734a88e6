"""The two brokers of try.py: queues of its own, and what was published to them, by other people's clients."""

import json
import os
import pathlib
import subprocess
import time
import urllib.parse

SYSTEM_PYTHON = "/usr/bin/python3"  # for which the system's pika is installed

RABBITMQ = r"""
import json, sys, pika
verb, host, port, name = sys.argv[1:]
channel = pika.BlockingConnection(pika.ConnectionParameters(host, int(port))).channel()
queues = [name + ".orders", name + ".invoices", name + ".all"]
if verb == "make":
    channel.exchange_declare(name, "topic", durable=True)
    for queue in queues:
        channel.queue_declare(queue, durable=True)
    for queue in queues[1:]:
        channel.queue_bind(queue, name, "order.accepted")
elif verb == "left":
    print(sum(channel.queue_declare(queue, passive=True).method.message_count for queue in queues[:2]))
elif verb == "published":
    while True:
        method, properties, body = channel.basic_get(queues[2], auto_ack=True)
        if method is None:
            break
        print(json.dumps({"id": properties.message_id, "body": body.decode()}))
"""


class Rabbitmq:
    """Everything that is published to the exchange is kept in a second queue beside the one that billing reads."""

    def __init__(self, name):
        self.url = os.environ["ONCEWARD_TEST_RABBITMQ"].rstrip("/")
        self.name = name
        self.base = self.url if self.url.count("/") > 2 else self.url + "/%2F"
        self.call("make")

    def call(self, verb):
        place = urllib.parse.urlsplit(self.url)
        command = [SYSTEM_PYTHON, "-c", RABBITMQ, verb, place.hostname, str(place.port), self.name]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def shop(self, text):
        text = text.replace("rabbitmq://guest:guest@localhost/%2F?exchange=shop", f"{self.base}?exchange={self.name}")
        return text.replace("rabbitmq://guest:guest@localhost/%2F?queue=orders", f"{self.base}?queue={self.name}.orders")

    def billing(self, text):
        return text.replace("rabbitmq://guest:guest@localhost/%2F?queue=", f"{self.base}?queue={self.name}.")

    def target(self):
        return f"{self.base}?queue={self.name}.orders"

    def left(self):
        return int(self.call("left"))

    def published(self):
        return self.call("published")


class Kafka:
    """Its own tools make the topics, and read everything that was published."""

    OPTIONS = "session.timeout.ms=6000&heartbeat.interval.ms=500&fetch.wait.max.ms=100"

    def __init__(self, name):
        self.url = os.environ["ONCEWARD_TEST_KAFKA"].rstrip("/")
        self.name = name
        for topic in ("orders", "invoices"):
            self.tool("TopicCommand", "--create", "--topic", f"{name}.{topic}", "--partitions", "2")

    def tool(self, *arguments):
        directory = pathlib.Path(os.environ["ONCEWARD_SERVICES_DIR"]) / "kafka"
        command = [os.environ["ONCEWARD_SCRIPTS"] + "/kafka", "tool", directory, *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def shop(self, text):
        text = text.replace("rabbitmq://guest:guest@localhost/%2F?exchange=shop&routing_key=order.accepted",
                            f"{self.url}/{self.name}.invoices")
        return text.replace("rabbitmq://guest:guest@localhost/%2F?queue=orders",
                            f"{self.url}/{self.name}.orders?group={self.name}.shop&{self.OPTIONS}")

    def billing(self, text):
        return text.replace("rabbitmq://guest:guest@localhost/%2F?queue=invoices",
                            f"{self.url}/{self.name}.invoices?group={self.name}.billing&{self.OPTIONS}")

    def target(self):
        return f"{self.url}/{self.name}.orders"

    def left(self):
        left = 0
        for group in ("shop", "billing"):
            for line in self.tool("consumer.group.ConsumerGroupCommand", "--describe", "--group",
                                  f"{self.name}.{group}").splitlines():
                words = line.split()
                if len(words) > 5 and words[0] == f"{self.name}.{group}" and words[4].isdigit():
                    left += int(words[4]) - (int(words[3]) if words[3].isdigit() else 0)
        return left

    def published(self):
        text = self.tool("consumer.ConsoleConsumer", "--topic", f"{self.name}.invoices", "--from-beginning", "--timeout-ms",
                         "8000", "--property", "print.headers=true", "--property", "headers.separator=\x1f")
        rows = []
        for line in text.splitlines():
            headers, _, body = line.partition("\t")
            named = dict(header.partition(":")[::2] for header in headers.split("\x1f"))
            if not body:
                continue  # what the tool says of itself
            rows.append(json.dumps({"id": named.get("ce_id") or named.get("id"), "body": body}))
        return "\n".join(rows) + "\n"


def await_until(what, holds, seconds=120, pause=0.2):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(pause)
