"""Walks the commands of rabbitmqadmin in walk.txt through a broker, and prints each with what it printed:

    python3 walk.py rabbitmqadmin http://guest:guest@127.0.0.1:15672 amqp://guest:guest@127.0.0.1:5672 < walk.txt

Behind the command a line begins with > on the standard output, with ! on the error output, and with = for an exit code
that is not 0. A command that ends in | TEXT shows lines with TEXT only, without padding: other virtual hosts and users of
the broker do not matter then. One that ends in < TEXT has TEXT as its standard input. Lines with @ are done here, not by
rabbitmqadmin:

    @consume USER VHOST QUEUE   opens a connection, a channel and a consumer; {connection} is the connection's name
    @write FILE TEXT            writes a file; {dir} is its directory
    @read FILE                  shows a file of definitions, in order
    @settle                     waits until statistics have reached the API: SETTLE seconds, by default none

It makes and deletes the virtual hosts and users walk and walk-*, so any RabbitMQ will do.
"""

import contextlib
import io
import json
import os
import socket
import struct
import sys
import tempfile
import time
import urllib.parse


class Walk:
    def __init__(self, script, http_url, amqp_url, directory):
        with open(script, encoding="utf-8") as f:
            self.program = compile(f.read(), script, "exec")
        self.http, self.amqp, self.directory = urllib.parse.urlparse(http_url), urllib.parse.urlparse(amqp_url), directory
        self.connection, self.consumer = "", None
        at = self.http
        self.options = ["-H", at.hostname, "-P", str(at.port), "-u", at.username or "guest", "-p", at.password or "guest"]
        self.node = json.loads(self.run("-f raw_json show overview node".split(" "), "")[0])[0]["node"]

    def line(self, line):
        print(line)
        if line.startswith("$ "):
            self.command(line[2:])
        elif line.startswith("@"):
            verb, *args = line[1:].split(" ")
            getattr(self, verb)(*args)

    def named(self, text):
        return text.replace("{dir}", self.directory).replace("{connection}", self.connection)

    def masked(self, text):
        for value, name in ((self.directory, "{dir}"), (self.connection, "{connection}"), (self.node, "{node}")):
            text = text.replace(value, name) if value else text
        return text

    def show(self, mark, text, only=None):
        for line in self.masked(text).splitlines():
            if only is None:
                print(f"{mark} {line}".rstrip())
            elif only in line:
                print(f"{mark} {' '.join(line.split())}")

    def command(self, text):
        text, _, only = text.partition(" | ")
        text, _, given = text.partition(" < ")
        out, err, status = self.run([self.named(arg) for arg in text.split(" ")], given)
        self.show(">", out, only or None)
        self.show("!", err)
        if status:
            print("=", status)

    def run(self, args, given):
        """Runs rabbitmqadmin in this process: a new one for each command would take most of the time."""
        out, err, status = io.StringIO(), io.StringIO(), 0
        argv, stdin = sys.argv, sys.stdin
        sys.argv, sys.stdin = ["rabbitmqadmin", *self.options, *args], io.StringIO(given)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                exec(self.program, {"__name__": "__main__", "__file__": "rabbitmqadmin"})
        except SystemExit as e:
            status = e.code or 0
        except Exception as e:  # it ends with a trace of calls
            print(f"{type(e).__name__}: {e}", file=err)
            status = 1
        finally:
            sys.argv, sys.stdin = argv, stdin
        return out.getvalue(), err.getvalue(), status

    def consume(self, user, vhost, queue):
        self.consumer = Consumer(self.amqp, user, vhost, queue)
        self.connection = self.consumer.name()

    def write(self, name, text):
        with open(os.path.join(self.directory, name), "w", encoding="utf-8") as f:
            f.write(text)

    def read(self, name):
        with open(os.path.join(self.directory, name), encoding="utf-8") as f:
            self.show(">", json.dumps(ordered(json.load(f)), indent=1, sort_keys=True))

    def settle(self):
        time.sleep(float(os.environ.get("SETTLE", "0")))


def ordered(definitions):
    """The lists of a definitions file are in no order."""
    for value in definitions.values():
        if isinstance(value, list):
            value.sort(key=lambda o: json.dumps(o, sort_keys=True))
    return definitions


class Consumer:
    """A connection with one channel and one consumer, in as much of AMQP 0-9-1 as that takes. The password is the user's name."""

    def __init__(self, at, user, vhost, queue):
        self.socket = socket.create_connection((at.hostname, at.port), timeout=10)
        self.input = self.socket.makefile("rb")
        self.socket.sendall(b"AMQP\0\0\x09\x01")
        self.expect(10, 10)
        login = b"\0" + user.encode() + b"\0" + user.encode()
        self.send(0, 10, 11, struct.pack(">I", 0) + short("PLAIN") + struct.pack(">I", len(login)) + login + short("en_US"))
        limits = self.expect(10, 30)[:6]
        self.send(0, 10, 31, limits + struct.pack(">H", 0))
        self.send(0, 10, 40, short(vhost) + short("") + b"\0")
        self.expect(10, 41)
        self.send(1, 20, 10, short(""))
        self.expect(20, 11)
        self.send(1, 60, 20, struct.pack(">H", 0) + short(queue) + short("walker") + b"\0" + struct.pack(">I", 0))
        self.expect(60, 21)

    def send(self, channel, class_id, method_id, arguments):
        payload = struct.pack(">HH", class_id, method_id) + arguments
        self.socket.sendall(struct.pack(">BHI", 1, channel, len(payload)) + payload + b"\xce")

    def expect(self, class_id, method_id):
        _, _, size = struct.unpack(">BHI", self.input.read(7))
        payload = self.input.read(size + 1)[:-1]
        got = struct.unpack(">HH", payload[:4])
        if got != (class_id, method_id):
            raise AssertionError(f"the broker sent method {got}, not {(class_id, method_id)}: {payload[4:]}")
        return payload[4:]

    def name(self):
        (host, port), (peer, peer_port) = self.socket.getsockname()[:2], self.socket.getpeername()[:2]
        return f"{host}:{port} -> {peer}:{peer_port}"


def short(text):
    return bytes([len(text)]) + text.encode()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        walk = Walk(*sys.argv[1:4], directory)
        for line in sys.stdin.read().splitlines():
            walk.line(line)
