#!/usr/bin/env python3
"""Attacks the real binary with hostile clients: slow, idle, oversized and malformed ones, and clients that do not read.
Each must get a clear 4xx or be disconnected, other clients must be served meanwhile, and no resource may leak.

usage: abuse_test.py --binary FOOTNOTE --data PREPARED [--full]   (a data folder with examples/handbook ingested)
--full opens 10,000 idle connections and 2,000 slow ones.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import resource
import selectors
import shutil
import socket
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fake_model import FakeModel, words  # noqa: E402
from server import Server  # noqa: E402

OPTIONS = None
COVERED = "How many days of unused leave can I carry over into next year?"
# Memory that the encoders of embedder and judge allocate on first use.
WORKING_MEMORY = 64 << 20
PATIENCE = 30  # seconds; far more than needed on a quiet machine
MEBIBYTE = 1 << 20
GET = b"GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


def post(path, body, *fields):
    head = [f"POST {path} HTTP/1.1".encode(), b"host: 127.0.0.1", b"content-type: application/json",
            b"content-length: %d" % len(body), *fields]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def wait_until(condition, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


class Answer:
    def __init__(self, status, head, body):
        self.status, self.head, self.body = status, head, body

    def field(self, name):
        found = re.search(rb"\r\n" + name.encode() + rb": ([^\r]*)", self.head, re.IGNORECASE)
        return found[1].decode() if found else None


class Connection:
    """A plain socket that sends bytes and reads complete responses."""

    def __init__(self, port, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        self.input = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        # A server that refuses a request may close before it has read all of it.
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            self.socket.sendall(data)
        return self

    def fill(self):
        with contextlib.suppress(ConnectionResetError):
            piece = self.socket.recv(1 << 16)
            self.input += piece
            return bool(piece)
        return False

    def answer(self):
        """The next response, or None if the server closed the connection."""
        while b"\r\n\r\n" not in self.input:
            if not self.fill():
                return None
        head, self.input = self.input.split(b"\r\n\r\n", 1)
        answer = Answer(int(head.split(b" ")[1]), head, b"")
        length = int(answer.field("content-length") or 0)
        while len(self.input) < length:
            if not self.fill():
                return None
        answer.body, self.input = self.input[:length], self.input[length:]
        return answer

    def is_closed(self):
        """True if the server has closed the connection without sending more."""
        return not self.input and not self.fill()


class AbuseCase(unittest.TestCase):
    environment = {}
    descriptors_max = None  # hard limit of open files for the server

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory(prefix="footnote-abuse-")
        data = os.path.join(cls.work.name, "data")
        shutil.copytree(OPTIONS.data, data)
        cls.model = cls.make_model()
        environment = {"FOOTNOTE_LOG_LEVEL": "warn", **cls.environment}
        if cls.model:
            cls.model.__enter__()
            environment |= {"LLM_BASE_URL": cls.model.url, "LLM_MODEL": "fake-1"}
        with cls.limited_descriptors():
            cls.server = Server(OPTIONS.binary, data, environment).__enter__()
        cls.base = cls.descriptors()
        cls.memory = cls.resident_bytes()

    @classmethod
    @contextlib.contextmanager
    def limited_descriptors(cls):
        """Processes started inside inherit a low soft limit, as from most shells, and the class's hard limit."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        # A hard limit cannot be raised again, so a shell between this process and the server sets it.
        binary = OPTIONS.binary
        if cls.descriptors_max:
            wrapper = os.path.join(cls.work.name, "footnote")
            with open(wrapper, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nulimit -Hn {cls.descriptors_max}\nexec '{binary}' \"$@\"\n")
            os.chmod(wrapper, 0o755)
            OPTIONS.binary = wrapper
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(cls.descriptors_max or 256, 256), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            OPTIONS.binary = binary

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)
        if cls.model:
            cls.model.__exit__(None, None, None)
        cls.work.cleanup()

    @classmethod
    def make_model(cls):
        return None

    @classmethod
    def descriptors(cls):
        return len(os.listdir(f"/proc/{cls.server.process.pid}/fd"))

    @classmethod
    def resident_bytes(cls):
        with open(f"/proc/{cls.server.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) * 1024

    def connect(self, **options):
        return Connection(self.server.port, **options)

    def ask(self, request):
        with self.connect() as connection:
            return connection.send(request).answer()

    def gauge(self, name):
        answer = self.ask(b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        if answer is None or answer.status != 200:
            return float("inf")  # still at a limit
        found = re.search(rf"^{name} (\S+)", answer.body.decode(), re.MULTILINE)
        self.assertTrue(found, f"no metric {name}")
        return float(found[1])

    def check_healthy(self):
        self.assertEqual(self.ask(GET).status, 200)
        self.assertEqual(self.ask(post("/api/search", b'{"query":"unused leave"}')).status, 200)

    def check_nothing_is_left(self, growth_max=64 * MEBIBYTE):
        # The metrics request itself is one connection and one running handler.
        for name, allowed in (("footnote_http_connections_open", 1), ("footnote_http_handlers_running", 1),
                              ("footnote_http_queue_depth", 0), ("footnote_sse_open_streams", 0)):
            self.assertTrue(wait_until(lambda: self.gauge(name) <= allowed), f"{name}: {self.gauge(name)}")  # noqa: B023
        self.assertTrue(wait_until(lambda: self.descriptors() <= self.base + 8), f"{self.base} -> {self.descriptors()}")
        self.assertLess(self.resident_bytes() - self.memory, growth_max + WORKING_MEMORY)


class Drip:
    """Connections that send one byte at a time and never finish."""

    def __init__(self, port, count, start, every):
        self.every = every
        self.statuses, self.cut = [], 0
        self.selector = selectors.DefaultSelector()
        self.open = []
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            client.sendall(start)
            client.setblocking(False)
            self.selector.register(client, selectors.EVENT_READ)
            self.open.append(client)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        deadline = time.monotonic() + PATIENCE
        while self.open and time.monotonic() < deadline:
            for key, _ in self.selector.select(self.every):
                self.read(key.fileobj)
            for client in self.open:
                with contextlib.suppress(OSError):
                    client.send(b"x")

    def read(self, client):
        try:
            data = client.recv(4096)
        except OSError:
            data = b""
        if data.startswith(b"HTTP/1.1 "):
            self.statuses.append(int(data.split(b" ")[1]))
        if data:
            return
        self.cut += 1
        self.selector.unregister(client)
        self.open.remove(client)
        client.close()


class SlowClients(AbuseCase):
    environment = {"FOOTNOTE_HEAD_TIMEOUT": "2s", "FOOTNOTE_BODY_TIMEOUT": "2s"}

    def test_slow_heads_and_bodies_are_cut_and_others_are_served_meanwhile(self):
        count = 1000 if OPTIONS.full else 200
        heads = Drip(self.server.port, count, b"GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ", 0.1)
        bodies = Drip(self.server.port, count, b"POST /api/search HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n", 0.1)
        served = 0
        while heads.thread.is_alive() or bodies.thread.is_alive():
            self.check_healthy()
            served += 1
        for drip in (heads, bodies):
            drip.thread.join(PATIENCE)
            self.assertEqual(drip.cut, count)
            self.assertEqual(set(drip.statuses), {408})
            # A byte sent at the moment of closing can reset the connection and lose the response; this is rare.
            self.assertGreater(len(drip.statuses), count * 0.9)
        self.assertGreater(served, 0)
        self.check_nothing_is_left()

    def test_expect_100_continue_then_silence(self):
        with self.connect() as connection:
            connection.send(b"POST /api/search HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
                            b"content-length: 30\r\nexpect: 100-continue\r\n\r\n")
            self.assertEqual(connection.answer().status, 100)
            self.assertEqual(connection.answer().status, 408)
            self.assertTrue(connection.is_closed())
        self.check_nothing_is_left()

    def test_connections_that_never_speak_are_closed(self):
        silent = [self.connect() for _ in range(200)]
        self.check_healthy()
        for connection in silent:
            self.assertTrue(connection.is_closed())
            connection.socket.close()
        self.check_nothing_is_left()


class IdleConnections(AbuseCase):
    def test_thousands_of_idle_connections_cost_little_and_hurt_nobody(self):
        count = 10_000 if OPTIONS.full else 3_000
        self.raise_own_limit(count)
        for _ in range(200):  # exclude the cost of the first requests
            self.ask(GET)
        before = self.resident_bytes()
        idle = [self.connect() for _ in range(count)]
        for connection in idle:
            self.assertEqual(connection.send(GET).answer().status, 200)
        each = (self.resident_bytes() - before) / count
        print(f"\n{count} idle connections: {each / 1024:.1f} KiB of the server's memory each", file=sys.stderr)
        self.assertLess(each, 8 * 1024)
        self.assertGreaterEqual(self.descriptors(), count)
        for _ in range(20):
            self.check_healthy()
        for connection in idle[:: count // 100]:
            self.assertEqual(connection.send(GET).answer().status, 200)
        for connection in idle:
            connection.socket.close()
        self.check_nothing_is_left(growth_max=count * 8 * 1024 + 64 * MEBIBYTE)

    def raise_own_limit(self, count):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < count + 500:
            self.skipTest(f"{count} connections need a higher limit of open files than {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 500), hard))


class FewConnections(AbuseCase):
    environment = {"FOOTNOTE_CONNECTIONS": "100"}

    def test_at_the_bound_idle_ones_give_way_and_busy_ones_stay(self):
        busy = self.connect().send(b"GET /livez HTTP/1.1\r\nhost: 127")
        idle = [self.connect() for _ in range(99)]
        for connection in idle:
            self.assertEqual(connection.send(GET).answer().status, 200)
        fresh = [self.connect() for _ in range(50)]
        for connection in fresh:
            self.assertEqual(connection.send(GET).answer().status, 200)
        for connection in idle[:50]:
            self.assertTrue(connection.is_closed(), "the longest idle go first")
        for connection in idle[50:] + fresh:
            self.assertEqual(connection.send(GET).answer().status, 200)
        self.assertEqual(busy.send(b".0.0.1\r\n\r\n").answer().status, 200)
        for connection in [busy, *idle, *fresh]:
            connection.socket.close()
        self.check_nothing_is_left()


class ConnectionsOfOneAddress(AbuseCase):
    environment = {"FOOTNOTE_CONNECTIONS_PER_PEER": "5"}

    def test_past_the_bound_a_peer_gets_429(self):
        held = [self.connect() for _ in range(5)]
        for connection in held:
            self.assertEqual(connection.send(GET).answer().status, 200)
        refused = self.ask(GET)
        self.assertEqual((refused.status, refused.field("retry-after")), (429, "1"))
        for connection in held:
            connection.socket.close()
        self.assertTrue(wait_until(lambda: self.ask(GET).status == 200))


class FewDescriptors(AbuseCase):
    descriptors_max = 400

    def test_the_bound_follows_the_limit_of_open_files_and_the_log_says_so(self):
        self.assertIn("allows fewer connections", self.server.output())
        with open(f"/proc/{self.server.process.pid}/limits", encoding="ascii") as limits:
            self.assertRegex(limits.read(), r"Max open files\s+400\s+400")
        held = [self.connect() for _ in range(600)]
        for connection in held[-100:]:
            self.assertEqual(connection.send(GET).answer().status, 200)
        self.check_healthy()
        for connection in held:
            connection.socket.close()
        self.assertNotIn("can't accept", self.server.output())
        self.check_nothing_is_left()


class Oversized(AbuseCase):
    def check(self, request, *allowed):
        answer = self.ask(request)
        self.assertIsNotNone(answer, "closed without an answer")
        self.assertIn(answer.status, allowed, answer.body[:300])
        error = json.loads(answer.body)["error"]
        self.assertTrue(error["message"])
        self.assertLess(len(answer.body), 4096, "an error does not echo what was sent")

    def check_body(self, body, *allowed, path="/api/kb/chat"):
        self.check(post(path, body), *allowed)

    def tearDown(self):
        self.check_healthy()
        self.check_nothing_is_left()

    def test_heads(self):
        host = b"host: 127.0.0.1\r\n"
        self.check(b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + host + b"\r\n", 431)
        self.check(b"GET /" + b"a" * (10 * MEBIBYTE), 431)
        self.check(b"A" * 100_000 + b" / HTTP/1.1\r\n" + host + b"\r\n", 400, 431)
        self.check(b"GET /livez HTTP/1.1\r\n" + host + b"x: " + b"a" * 100_000 + b"\r\n\r\n", 431)
        self.check(b"GET /livez HTTP/1.1\r\n" + host + b"a" * 100_000 + b": x\r\n\r\n", 431)
        self.check(b"GET /livez HTTP/1.1\r\n" + host + b"x: y\r\n" * 20_000 + b"\r\n", 431)
        self.check(b"GET /livez?" + b"a=b&" * 3_000 + b" HTTP/1.1\r\n" + host + b"\r\n", 400)
        self.check(b"GET /livez?q=" + b"%41" * 10_000 + b" HTTP/1.1\r\n" + host + b"\r\n", 431)
        self.check(b"GET /livez?q=" + b"%4" * 5_000 + b" HTTP/1.1\r\n" + host + b"\r\n", 400)
        self.check(b"GET " + b"/a" * 7_000 + b" HTTP/1.1\r\n" + host + b"\r\n", 404)
        self.check(b"GET " + b"/.." * 5_000 + b"/etc/passwd HTTP/1.1\r\n" + host + b"\r\n", 404)
        self.check(b"GET /api/kb/documents/" + b"9" * 10_000 + b"/preview HTTP/1.1\r\n" + host + b"\r\n", 404, 422)

    def test_bodies(self):
        chunked = b"POST /api/kb/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        self.check(b"POST /api/kb/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 2147483648\r\n\r\n", 413)
        self.check(b"POST /api/kb/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 18446744073709551617\r\n\r\n", 400)
        self.check_body(b"x" * (4 * MEBIBYTE), 413)
        self.check_body(b"x" * (40 * MEBIBYTE), 413, path="/api/kb/ingest")
        self.check(chunked + b"10000\r\n%s\r\n" % (b"x" * 65_536) * 32 + b"0\r\n\r\n", 413)
        self.check(chunked + b"ffffffffffffffff\r\n", 413)
        self.check(chunked + b"fffffffffffffffff\r\n", 400, 413)
        self.check(chunked + b"1;" + b"e" * 100_000 + b"\r\nx\r\n0\r\n\r\n", 400)
        self.check(chunked + b"1\r\nx\r\n" * 10_000 + b"0\r\nx: " + b"t" * 100_000 + b"\r\n\r\n", 400)

    def test_json(self):
        self.check_body(b"[" * 100_000, 400)
        self.check_body(b'{"question":' * 80_000, 400)
        self.check_body(b"{" + b",".join(b'"k%d":1' % i for i in range(90_000)) + b"}", 422)
        self.check_body(b'{"question":' + b"1" * 1_000_000 + b"}", 400, 422)
        self.check_body(b'{"question":1e' + b"9" * 1_000_000 + b"}", 400, 422)
        self.check_body(b'{"question":0.' + b"0" * 1_000_000 + b"1}", 400, 422)
        self.check_body(b'{"question":"a","question":"b"}', 400)
        self.check_body(b"{" + b'"question":"a",' * 60_000 + b'"question":"b"}', 400)
        self.check_body(b'{"question":"\\ud800"}', 400)
        self.check_body(b'{"question":"\\udc00\\ud800"}', 400)
        self.check_body(b'{"question":"\xed\xa0\x80"}', 400)
        self.check_body(b'{"question":NaN}', 400)
        self.check_body(b'{"question":Infinity}', 400)
        self.check_body(b'{"question":-1e999}', 400)
        self.check_body(b'{"question":"' + b"x" * 1_000_000 + b'"}', 413, 422)
        self.check_body(b'{"question":"' + "\u0301".encode() * 400_000 + b'"}', 413, 422)
        self.check_body(b'{"question":"a\x00b"}', 400)
        self.check_body(b'{"query":"x","limit":1' + b"0" * 400 + b"}", 400, 422, path="/api/search")
        self.check_body(b'{"documents":[' + b",".join([b"{}"] * 100_000) + b"]}", 413, 422, path="/api/kb/ingest")

    def test_bodies_that_are_no_json(self):
        for body in (b"plain text", b"question=x&project_key=y", bytes(range(256)) * 1000, b"\x1f\x8b\x08" + b"\0" * 1000,
                     b"<question/>", b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b"", b"\0" * 100_000):
            self.check_body(body, 400)
            request = post("/api/kb/chat", body).replace(b"application/json", b"application/octet-stream")
            self.check(request, 400, 415)

    def test_a_thousand_pipelined_requests_are_answered_in_order(self):
        with self.connect() as connection:
            sender = threading.Thread(target=lambda: connection.send(
                b"".join(GET.replace(b"\r\n\r\n", b"\r\nx-request-id: r%d\r\n\r\n" % i) for i in range(1000))))
            sender.start()
            for i in range(1000):
                answer = connection.answer()
                self.assertEqual((answer.status, answer.field("x-request-id")), (200, f"r{i}"))
            sender.join()

    def test_requests_whose_end_is_in_doubt_are_refused_and_what_follows_is_not_read(self):
        smuggled = b"GET /livez HTTP/1.1\r\nhost: smuggled\r\n\r\n"
        for fields in (b"content-length: 5\r\ntransfer-encoding: chunked", b"transfer-encoding: chunked\r\ncontent-length: 5",
                       b"content-length: 0\r\ncontent-length: 5", b"content-length: 5, 5", b"content-length: +5",
                       b"transfer-encoding: chunked\r\ntransfer-encoding: identity", b"transfer-encoding: xchunked",
                       b"transfer-encoding : chunked", b"transfer-encoding:\r\n chunked", b"transfer-encoding: chunked, identity",
                       b"transfer-encoding: \x0bchunked", b"content-length: 5\r\n\tx: y", b"content-length: 5\nx: y"):
            with self.connect() as connection:
                connection.send(b"POST /api/search HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n" + fields + b"\r\n\r\n0\r\n\r\n" + smuggled)
                self.assertEqual(connection.answer().status, 400, fields)
                self.assertTrue(connection.is_closed(), fields)

    def test_a_host_in_the_target_does_not_slip_past_the_guard(self):
        self.check(b"GET http://evil.test/livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", 400)
        self.check(b"GET http://evil.test/livez HTTP/1.1\r\nhost: evil.test\r\n\r\n", 403)
        self.check(b"GET http://evil.test/livez HTTP/1.0\r\n\r\n", 403)
        self.check(b"GET /livez HTTP/1.0\r\n\r\n", 403)
        self.check(b"GET /livez HTTP/1.1\r\nhost: 127.0.0.1:1@evil.test\r\n\r\n", 400)
        self.check(b"GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: http://127.0.0.1\r\norigin: http://evil.test\r\n\r\n", 400)


class FloodModel(FakeModel):
    """Answers a question with FLOOD at once, in so many pieces that their events are more than any buffer holds (an answer has at most
    100,000 characters), and others with a few words and pauses."""

    FLOOD = "zanzibar"
    flood = list("".join(words(9_500))[:99_000])

    def __init__(self):
        self.asked = threading.local()
        super().__init__(words(20), pause=0.1)
        self.bodies = self

    def is_flood(self):
        return self.FLOOD in getattr(self.asked, "text", "")

    @property
    def pause(self):
        return 0 if self.is_flood() else self.between

    @pause.setter
    def pause(self, seconds):
        self.between = seconds

    def append(self, body):
        """Called with the request body, on the handler's thread."""
        self.asked.text = json.dumps(body)

    @property
    def pieces(self):
        return self.flood if self.is_flood() else self.words

    @pieces.setter
    def pieces(self, pieces):
        self.words = pieces


class StalledReader(AbuseCase):
    # All arrive at once: more than can be searched within the usual wait.
    environment = {"FOOTNOTE_WRITE_TIMEOUT": "1s", "FOOTNOTE_QUEUE_WAIT": "120s"}
    streams = 100

    @classmethod
    def make_model(cls):
        return FloodModel()

    def open_stream(self, question, **options):
        body = json.dumps({"question": question}).encode()
        return self.connect(**options).send(post("/api/kb/chat/stream", body))

    def test_a_reader_that_stalls_is_cut_and_all_other_streams_come_whole(self):
        stalled = self.open_stream(f"{COVERED} {FloodModel.FLOOD}", receive_buffer=4096)
        self.assertTrue(wait_until(lambda: self.gauge("footnote_sse_open_streams") == 1))
        others = [self.open_stream(COVERED) for _ in range(self.streams - 1)]
        with selectors.DefaultSelector() as selector:
            for connection in others:
                selector.register(connection.socket, selectors.EVENT_READ, connection)
            waiting, deadline = set(others), time.monotonic() + 4 * PATIENCE
            while waiting and time.monotonic() < deadline:
                for key, _ in selector.select(1):
                    if not key.data.fill() or b"[DONE]" in key.data.input:
                        waiting.discard(key.data)
                        selector.unregister(key.fileobj)
        for connection in others:
            self.assertIn(b"[DONE]", connection.input)
            connection.socket.close()
        # The stalled client neither reads nor closes; only the server ends it.
        self.assertTrue(wait_until(lambda: self.gauge("footnote_sse_open_streams") == 0))
        self.assertTrue(wait_until(lambda: self.gauge("footnote_upstream_calls_open") == 0), "the model is no longer asked")
        while stalled.fill():
            pass
        self.assertNotIn(b"[DONE]", stalled.input)
        stalled.socket.close()
        # Worker threads stay alive, and their allocators keep some memory.
        self.check_nothing_is_left(growth_max=2 * self.streams * MEBIBYTE)


class Overload(AbuseCase):
    environment = {"FOOTNOTE_WORKERS": "4", "FOOTNOTE_QUEUE_WAIT": "1s"}

    @classmethod
    def make_model(cls):
        return FakeModel(["Five days [1]."], pause=0.5)

    def test_what_would_wait_too_long_gets_503_with_retry_after(self):
        asked = [self.connect().send(post("/api/kb/chat", json.dumps({"question": COVERED}).encode())) for _ in range(60)]
        self.assertEqual(self.ask(GET).status, 200, "what needs no worker does not wait")
        answers = [connection.answer() for connection in asked]
        for connection in asked:
            connection.socket.close()
        statuses = [answer.status for answer in answers]
        self.assertEqual(set(statuses), {200, 503})
        for answer in answers:
            if answer.status == 503:
                self.assertIn(int(answer.field("retry-after")), range(1, 31))
                self.assertEqual(json.loads(answer.body)["error"]["code"], "resource_exhausted")
        self.assertTrue(wait_until(lambda: self.ask(post("/api/search", b'{"query":"leave"}')).status == 200))
        self.check_nothing_is_left()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--full", action="store_true")
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.binary = os.path.abspath(OPTIONS.binary)
    unittest.main(argv=[sys.argv[0], *rest])
