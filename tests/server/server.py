"""Starts and stops the real server for tests."""
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`footnote serve` on a free port; ready on entry, stopped by SIGTERM on exit."""

    def __init__(self, binary, data, environment=None, ready="/readyz", flags=()):
        self.binary, self.data, self.ready, self.flags = binary, data, ready, flags
        self.environment = {**os.environ, **(environment or {})}
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.log = open(os.path.join(self.data, "server.log"), "wb+")
        self.process = subprocess.Popen([self.binary, "serve", "--data", self.data, "--port", str(self.port), *self.flags],
                                        stdout=self.log, stderr=self.log, env=self.environment)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                urllib.request.urlopen(self.url + self.ready, timeout=2)
                return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        self.__exit__(None, None, None)
        raise RuntimeError("the server did not become ready:\n" + self.output())

    def output(self):
        with open(self.log.name, "rb") as log:
            return log.read().decode(errors="replace")

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise RuntimeError("the server did not drain within 20 s of SIGTERM")
        self.log.close()
