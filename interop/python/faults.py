"""Puts faults between a leveret serve --faults and this program, and fails if anything is not as it has to be:

    python3 faults.py amqp://guest:guest@127.0.0.1:5672/ leveret ctl

The first argument is the broker's URL, the others are the command line of leveret ctl. Needs pika 1.x.
"""

import subprocess
import sys

import pika


def main(url, *ctl):
    refuse_a_publish(url, ctl)
    lose_a_confirm(url, ctl)
    cancel_a_consumer(url, ctl)


def refuse_a_publish(url, ctl):
    """The second publish with the key is refused, and no other."""
    connection, channel, work = connect(url)
    number = command(ctl, "fault", "publish", "nack", "--nth", "2", "--routing-key", work)
    equal([publish(channel, work, body) for body in (b"1", b"2", b"3")], [True, False, True])
    command(ctl, "lift_fault", number)
    equal([body for _, _, body in got(channel, work)], [b"1", b"3"])
    connection.close()


def lose_a_confirm(url, ctl):
    """The broker has the message, and the connection ends before its publisher knows."""
    connection, channel, work = connect(url)
    command(ctl, "fault", "confirm", "cut", "--body", "order 17")
    equal(publish(channel, work, b"order 16"), True)
    try:
        publish(channel, work, b"order 17")
        raise AssertionError("the connection should have been lost")
    except pika.exceptions.AMQPConnectionError:
        pass
    equal(connection.is_open, False)
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    equal([body for _, _, body in got(channel, work)], [b"order 16", b"order 17"])
    channel.queue_delete(work)
    connection.close()


def cancel_a_consumer(url, ctl):
    """A consumer ends with its first message, as if its queue had been deleted."""
    connection, channel, work = connect(url)
    command(ctl, "fault", "deliver", "cancel_consumer")
    publish(channel, work, b"last")
    arrived = [body for _, _, body in channel.consume(work, auto_ack=True)]  # ends when the consumer is cancelled
    equal(arrived, [b"last"])
    channel.queue_delete(work)
    connection.close()


def connect(url):
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    channel.confirm_delivery()
    return connection, channel, channel.queue_declare("").method.queue


def publish(channel, queue, body):
    """Says whether the broker took the message."""
    try:
        channel.basic_publish("", queue, body)
        return True
    except pika.exceptions.NackError:
        return False


def got(channel, queue):
    """Takes all messages out of the queue."""
    messages = []
    while True:
        message = channel.basic_get(queue, auto_ack=True)
        if message[0] is None:
            return messages
        messages.append(message)


def command(ctl, *words):
    return subprocess.run([*ctl, "-q", *words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def equal(got, want):
    if got != want:
        raise AssertionError(f"{got!r} is not {want!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
    print("pika: the faults were as asked for")
