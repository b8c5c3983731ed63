#!/usr/bin/env python3
"""Runs a command against a fresh server of the real binary, on a free port and a copy of a prepared data folder.

usage: with_server.py --binary FOOTNOTE --data PREPARED [--key] -- COMMAND...
The command finds the server in FOOTNOTE_URL and its process in FOOTNOTE_PID, with --key an API key of it in FOOTNOTE_KEY. Its exit
code is ours.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from server import Server  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--key", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footnote-server-") as work:
        data = os.path.join(work, "data")
        shutil.copytree(options.data, data)
        with Server(options.binary, data) as server:
            environment = {**os.environ, "FOOTNOTE_URL": server.url, "FOOTNOTE_PID": str(server.process.pid)}
            if options.key:
                create = [options.binary, "keys", "create", "--data", data, "--name", "test", "--scope", "read"]
                environment["FOOTNOTE_KEY"] = subprocess.run(create, check=True, capture_output=True, text=True).stdout.strip()
            return subprocess.run(options.command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
