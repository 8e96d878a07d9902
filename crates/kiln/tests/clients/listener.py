"""Listens to notifications as any consumer of oslo.messaging does, and prints each in a line.

listener.py URL
"""
import json
import sys

import oslo_messaging
from oslo_config import cfg


class Printer:
    """What a message of each level is taken by."""

    def show(self, priority, context, publisher, event, payload, metadata):
        print(json.dumps({"priority": priority, "context": context, "publisher": publisher, "event": event,
                          "payload": payload, "metadata": metadata}), flush=True)

    def info(self, *message):
        self.show("info", *message)

    def error(self, *message):
        self.show("error", *message)


conf = cfg.ConfigOpts()
conf([], project="listener")
transport = oslo_messaging.get_notification_transport(conf, url=sys.argv[1])
listener = oslo_messaging.get_notification_listener(
    transport, [oslo_messaging.Target(exchange="heat", topic="notifications")], [Printer()], executor="threading")
# One message after the other: many would overtake each other here.
listener.start(override_pool_size=1)
print("listening", flush=True)
listener.wait()
