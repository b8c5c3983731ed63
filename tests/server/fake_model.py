"""A scripted OpenAI-compatible language-model server for tests. Loopback only."""
import http.server
import json
import threading
import time


def words(count):
    """Pieces of a text that does not repeat itself."""
    return [f"word{i} " for i in range(count)]


class FakeModel:
    """Streams `pieces` one by one, `pause` seconds apart; counts calls, open streams and broken ones."""

    def __init__(self, pieces, pause=0.0, status=200):
        self.pieces, self.pause, self.status = pieces, pause, status
        self.calls, self.open, self.broken_at, self.bodies, self.headers = 0, 0, None, [], []
        self.error_body, self.raw = b"", None  # body for a status other than 200, sent instead of the pieces
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                model.calls += 1
                model.bodies.append(json.loads(body))
                model.headers.append({name.lower(): value for name, value in self.headers.items()})
                if model.status != 200:
                    self.send_response(model.status)
                    self.send_header("content-length", str(len(model.error_body)))
                    self.end_headers()
                    self.wfile.write(model.error_body)
                    return
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                model.open += 1
                try:
                    if model.raw is not None:
                        self.chunk(model.raw)
                        self.wfile.write(b"0\r\n\r\n")
                        return
                    for piece in model.pieces:
                        self.event({"model": "fake-1", "choices": [{"index": 0, "delta": {"content": piece}}]})
                        time.sleep(model.pause)
                    self.event({"model": "fake-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                    self.event({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}})
                    self.chunk(b"data: [DONE]\n\n")
                    self.wfile.write(b"0\r\n\r\n")
                except (BrokenPipeError, ConnectionResetError):
                    model.broken_at = time.monotonic()
                    self.close_connection = True
                finally:
                    model.open -= 1

            def event(self, value):
                self.chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

            def chunk(self, data):
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
