"""Publishes, consumes and dead-letters through the broker at the URL given, and fails if anything is
not as it has to be:

    python3 roundtrip.py amqp://guest:guest@127.0.0.1:5672/

It uses exclusive queues and an exchange of its own, so any RabbitMQ will do as well. Needs pika 1.x.
"""

import datetime
import sys
import time

import pika
import pika.exceptions

DLX = "interop.python.dlx"


def main(url):
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    channel.confirm_delivery()
    channel.exchange_declare(DLX, "topic", auto_delete=True)
    dead = channel.queue_declare("", exclusive=True).method.queue
    channel.queue_bind(dead, DLX, "dead.#")

    properties(channel)
    rejected(channel, dead)
    expired(channel, dead)
    overflown(channel, dead)
    returned(channel)
    nacked(channel)
    transaction(connection)
    refused(connection)
    connection.close()


def equal(got, want):
    if got != want:
        raise AssertionError(f"{got!r} is not {want!r}")


def source(channel, reason, **arguments):
    """Declare a queue with the dead-letter exchange and further arguments."""
    arguments = {"x-" + k.replace("_", "-"): v for k, v in arguments.items()}
    arguments |= {"x-dead-letter-exchange": DLX, "x-dead-letter-routing-key": "dead." + reason}
    return channel.queue_declare("", exclusive=True, arguments=arguments).method.queue


def next_message(channel, queue):
    """Wait for the next message of a queue, by a consumer."""
    arrived = []
    channel.basic_qos(prefetch_count=1)
    tag = channel.basic_consume(queue, lambda _, *message: arrived.append(message))
    deadline = time.monotonic() + 10
    while not arrived and time.monotonic() < deadline:
        channel.connection.process_data_events(time_limit=0.1)
    if not arrived:
        raise AssertionError(f"nothing came to {queue}")
    channel.basic_cancel(tag)
    return arrived[0]


def died(channel, dead, body, queue, reason):
    """Take the next dead letter and check its history."""
    method, props, got = next_message(channel, dead)
    equal(got, body)
    equal(method.exchange, DLX)
    equal(method.routing_key, "dead." + reason)
    equal(props.headers["x-first-death-queue"], queue)
    equal(props.headers["x-first-death-reason"], reason)
    equal(props.headers["x-first-death-exchange"], "")
    (death,) = props.headers["x-death"]
    equal(isinstance(death.pop("time"), datetime.datetime), True)
    original = death.pop("original-expiration", None)
    equal(death, {"queue": queue, "reason": reason, "count": 1, "exchange": "", "routing-keys": [queue]})
    channel.basic_ack(method.delivery_tag)
    return original


def properties(channel):
    queue = channel.queue_declare("", exclusive=True).method.queue
    body = b"x" * 300_000  # more than one frame
    headers = {"text": "\u00df", "number": 7, "big": 1 << 40, "yes": True, "list": [1, "two"], "table": {"deep": {"er": 1}}}
    sent = pika.BasicProperties(
        headers=headers, content_type="text/plain", content_encoding="none", correlation_id="c", reply_to="r",
        message_id="m", type="t", app_id="a", user_id="guest", delivery_mode=2, priority=3, timestamp=1_700_000_000)
    channel.basic_publish("", queue, body, sent)
    method, props, got = next_message(channel, queue)
    equal(got, body)
    equal(vars(props), vars(sent))
    equal(method.redelivered, False)
    channel.basic_nack(method.delivery_tag, requeue=True)
    method, _, _ = next_message(channel, queue)
    equal(method.redelivered, True)
    channel.basic_ack(method.delivery_tag)
    equal(channel.queue_declare(queue, passive=True).method.message_count, 0)


def rejected(channel, dead):
    queue = source(channel, "rejected")
    channel.basic_publish("", queue, b"one")
    method, _, _ = next_message(channel, queue)
    channel.basic_reject(method.delivery_tag, requeue=False)
    died(channel, dead, b"one", queue, "rejected")


def expired(channel, dead):
    queue = source(channel, "expired", message_ttl=5000)
    channel.basic_publish("", queue, b"two", pika.BasicProperties(expiration="50"))
    equal(died(channel, dead, b"two", queue, "expired"), "50")


def overflown(channel, dead):
    queue = source(channel, "maxlen", max_length=1)
    channel.basic_publish("", queue, b"three")
    channel.basic_publish("", queue, b"four")
    died(channel, dead, b"three", queue, "maxlen")
    equal(channel.basic_get(queue, auto_ack=True)[2], b"four")


def returned(channel):
    try:
        channel.basic_publish(DLX, "nobody.listens", b"five", mandatory=True)
    except pika.exceptions.UnroutableError as err:
        equal(err.messages[0].method.reply_code, 312)
        equal(err.messages[0].method.reply_text, "NO_ROUTE")
    else:
        raise AssertionError("a mandatory message that nobody got did not come back")


def nacked(channel):
    arguments = {"x-max-length": 1, "x-overflow": "reject-publish"}
    queue = channel.queue_declare("", exclusive=True, arguments=arguments).method.queue
    channel.basic_publish("", queue, b"six")
    try:
        channel.basic_publish("", queue, b"seven")
    except pika.exceptions.NackError:
        return
    raise AssertionError("a full queue did not refuse a message")


def transaction(connection):
    channel = connection.channel()
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.tx_select()
    channel.basic_publish("", queue, b"forgotten")
    channel.tx_rollback()
    channel.basic_publish("", queue, b"eight")
    equal(channel.basic_get(queue)[0], None)
    channel.tx_commit()
    equal(channel.basic_get(queue)[2], b"eight")
    channel.close()


def refused(connection):
    try:
        connection.channel().queue_declare("interop.python.missing", passive=True)
    except pika.exceptions.ChannelClosedByBroker as err:
        equal(err.reply_code, 404)
        equal(err.reply_text, "NOT_FOUND - no queue 'interop.python.missing' in vhost '/'")
    else:
        raise AssertionError("a missing queue was found")


if __name__ == "__main__":
    main(sys.argv[1])
    print("pika: everything as it has to be")
