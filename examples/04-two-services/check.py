"""Compares what was sent, both databases, and what the broker was given. Uses nothing of Onceward.

Usage: check.py SENT SHOP BILLING PUBLISHED

SENT has an order a line; PUBLISHED a JSON object {"id", "body"} for each message that the broker was given, those of a customer in
their order. Prints a line for each question; exit code 1 if one is answered wrongly.
"""

import collections
import json
import sqlite3
import sys

wrong = False


def ask(what, expected, found):
    global wrong
    holds = expected == found
    wrong |= not holds
    print(f"  {what:<44} {expected!s:>10} {found!s:>10}  {'ok' if holds else 'WRONG'}")


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


sent = {order["payload"]["purchase"]: order["payload"] for order in lines(sys.argv[1])}
cents = {name: round(float(order["amount"]) * 100) for name, order in sent.items()}
shop, billing = sqlite3.connect(sys.argv[2]), sqlite3.connect(sys.argv[3])
purchases = collections.Counter(row[0] for row in shop.execute("SELECT id FROM purchase"))
invoices = collections.Counter(row[0] for row in billing.execute("SELECT purchase FROM invoice"))
published = lines(sys.argv[4])
bodies = collections.defaultdict(set)
for message in published:
    bodies[message["id"]].add(message["body"])

# Of each customer: the order in which the shop has committed, and that in which the broker was first given each.
committed, given = collections.defaultdict(list), collections.defaultdict(list)
for purchase, customer in shop.execute("SELECT id, customer FROM purchase ORDER BY rowid"):
    committed[customer].append(purchase)
for body in (json.loads(message["body"]) for message in published):
    if body["purchase"] not in given[body["customer"]]:
        given[body["customer"]].append(body["purchase"])

ask("orders that were sent, in the shop", len(sent), len(purchases))
ask("of them twice", 0, sum(count > 1 for count in purchases.values()))
ask("invoices", len(sent), len(invoices))
ask("of them twice", 0, sum(count > 1 for count in invoices.values()))
ask("invoices of nobody's order", 0, len(invoices.keys() - sent.keys()))
ask("cents that were sent, billed", sum(cents.values()), billing.execute("SELECT sum(cents) FROM invoice").fetchone()[0])
ask("and in the accounts", sum(cents.values()), billing.execute("SELECT sum(cents) FROM account").fetchone()[0])
ask("messages that the broker was given", len(sent), len(bodies))
ask("of them with two contents", 0, sum(len(contents) > 1 for contents in bodies.values()))
ask("customers whose order was kept", len(committed), sum(given[name] == committed[name] for name in committed))
ask("left in the shop's outbox", 0, shop.execute("SELECT count(*) FROM onceward_outbox_pending").fetchone()[0])
ask("or waiting there", 0, shop.execute("SELECT count(*) FROM onceward_outbox_waiting").fetchone()[0])
print(f"  {len(published) - len(bodies)} messages were published again")
sys.exit(1 if wrong else 0)
