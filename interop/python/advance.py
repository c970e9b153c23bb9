"""Lets an hour pass for a leveret serve --clock manual, and fails if anything is not as it has to be:

    python3 advance.py amqp://guest:guest@127.0.0.1:5672/ leveret ctl

The first argument is the broker's URL, the others are the command line of leveret ctl. Needs pika 1.x.
"""

import subprocess
import sys

import pika


def main(url, *ctl):
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    channel.confirm_delivery()
    work = channel.queue_declare("", exclusive=True).method.queue
    wait = channel.queue_declare("", exclusive=True, arguments={
        "x-message-ttl": 3600_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": work,
    }).method.queue
    arrived = []
    channel.basic_consume(work, lambda _, *message: arrived.append(message[2]), auto_ack=True)
    channel.basic_publish("", wait, b"again")

    advance(ctl, "59m59s")
    connection.process_data_events(time_limit=0)
    equal(arrived, [])
    equal(channel.queue_declare(wait, passive=True).method.message_count, 1)
    advance(ctl, "1s")  # what is due is on the connection when the command returns
    connection.process_data_events(time_limit=0)
    equal(arrived, [b"again"])
    connection.close()


def advance(ctl, duration):
    subprocess.run([*ctl, "advance", duration], check=True, stdout=subprocess.DEVNULL)


def equal(got, want):
    if got != want:
        raise AssertionError(f"{got!r} is not {want!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
    print("pika: an hour has passed")
