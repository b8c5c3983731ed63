#!/usr/bin/env python3
"""Runs a command with a new server of the real binary, on a free port and a copy of a prepared data folder.

usage: with_server.py --binary FOOTNOTE --data PREPARED [--key] [--upstream] [--demo] -- COMMAND...
The command gets the server's URL in FOOTNOTE_URL, its process id in FOOTNOTE_PID and, with --key, an API key in FOOTNOTE_KEY. With --upstream
it uses a scripted model server, and the points of tests/fixtures/proxy are in its store. With --demo it serves the demonstration
shop. The exit code is the command's.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fake_upstream import FakeUpstream  # noqa: E402
from server import Server  # noqa: E402

POINTS = pathlib.Path(__file__).resolve().parents[1] / "fixtures/proxy/points.json"
SHOP = pathlib.Path(__file__).resolve().parents[2] / "examples/shop/pages"


def send(url, method, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"}, method=method)
    return json.load(urllib.request.urlopen(request, timeout=60))


def add_points(server, collection="memory"):
    points = json.loads(POINTS.read_text())
    vectors = send(server.url + "/embed", "POST", {"inputs": [point["payload"]["text"] for point in points]})["vectors"]
    for point, vector in zip(points, vectors):
        point["vector"] = vector
    send(f"{server.url}/collections/{collection}/points?wait=true", "PUT", {"points": points})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--key", action="store_true")
    parser.add_argument("--upstream", action="store_true")
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footnote-server-") as work:
        data = os.path.join(work, "data")
        if options.upstream:
            os.mkdir(data)  # only the points
        else:
            shutil.copytree(options.data, data)
        with contextlib.ExitStack() as stack:
            if options.demo:
                subprocess.run([options.binary, "ingest", str(SHOP), "--corpus", "demo-shop", "--data", data], check=True, stdout=subprocess.DEVNULL)
            upstream = stack.enter_context(FakeUpstream()) if options.upstream else None
            server = stack.enter_context(Server(options.binary, data, {"LLM_BASE_URL": upstream.url} if upstream else None,
                                                flags=["--demo"] if options.demo else []))
            if upstream:
                add_points(server)
            environment = {**os.environ, "FOOTNOTE_URL": server.url, "FOOTNOTE_PID": str(server.process.pid)}
            if options.key:
                create = [options.binary, "keys", "create", "--data", data, "--name", "test", "--scope", "read"]
                environment["FOOTNOTE_KEY"] = subprocess.run(create, check=True, capture_output=True, text=True).stdout.strip()
            return subprocess.run(options.command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
