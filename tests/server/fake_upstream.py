"""A scripted OpenAI-compatible server for tests of the proxy. Its behaviour depends on the model's name. Loopback only."""
import http.server
import itertools
import json
import threading
import time

from fake_model import words

ANSWER = ("Qdrant's latest release focuses on hybrid search throughput and faster filters [1][2].\n\nSources\n"
          "- [1] https://qdrant.tech/blog/qdrant-1-9/\n- [2] https://qdrant.tech/changelog/")
MODELS = ["local/phi3-en", "plain"]
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
#: Bytes with unusual formatting that a proxy might be tempted to clean up.
RAW_ANSWER = b'{ "id":"x",\n  "model" : "plain", "odd": 1.0e+2, "text": "\\u00e4 \xc3\xa4", "choices":[] }\n'
RAW_EVENTS = b': hello\r\n\r\ndata:{"model":"plain","n": 1.50}\r\n\r\nevent: x\ndata: {"a" : [1,\ndata: 2]}\n\ndata: [DONE]\n\n'


class FakeUpstream:
    def __init__(self, models=None, tls=None):
        """`tls`: a server's ssl.SSLContext; with it the address is https."""
        self.models = models or MODELS
        self.bodies, self.headers, self.paths = [], [], []
        self.open, self.broken = 0, 0
        self.stop = threading.Event()
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                upstream.note(self, b"")
                entries = [{"id": name, "object": "model", "created": 17, "owned_by": "us"} for name in upstream.models]
                self.whole(200, json.dumps({"object": "list", "data": entries}).encode())

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                upstream.note(self, body)
                upstream.open += 1
                try:
                    ask = json.loads(body)
                    name = ask["model"].removeprefix("local/").replace("-", "_")
                    getattr(self, "model_" + name, self.missing)(ask)
                except (BrokenPipeError, ConnectionResetError):
                    upstream.broken += 1
                    self.close_connection = True
                finally:
                    upstream.open -= 1

            def model_phi3_en(self, ask):
                if ask["model"] not in upstream.models:
                    return self.missing(ask)
                if not ask.get("stream"):
                    message = {"role": "assistant", "content": ANSWER}
                    choice = {"index": 0, "message": message, "finish_reason": "stop"}
                    return self.whole(200, json.dumps({"id": "c1", "object": "chat.completion", "created": 5, "model": ask["model"],
                                                       "choices": [choice], "usage": USAGE}).encode())
                self.start()
                self.delta(ask, {"role": "assistant", "content": ""})
                for at in range(0, len(ANSWER), 5):
                    self.delta(ask, {"content": ANSWER[at:at + 5]})
                self.delta(ask, {}, "stop")
                if ask.get("stream_options", {}).get("include_usage"):
                    self.event({"id": "c1", "object": "chat.completion.chunk", "created": 5, "model": ask["model"], "choices": [],
                                "usage": USAGE})
                self.end(b"data: [DONE]\n\n")

            model_bare = model_phi3_en

            def model_plain(self, ask):
                if not ask.get("stream"):
                    return self.whole(200, RAW_ANSWER)
                self.start()
                for at in range(0, len(RAW_EVENTS), 7):
                    self.chunk(RAW_EVENTS[at:at + 7])
                self.end()

            def model_busy(self, ask):
                error = {"error": {"message": "slow down", "type": "rate_limit_error", "param": None, "code": "rate_limit_exceeded"}}
                self.whole(429, json.dumps(error).encode(), {"retry-after": "7"})

            def model_broken(self, ask):
                self.whole(500, b"<html>Internal Server Error</html>", {"content-type": "text/html"})

            def model_away(self, ask):
                self.whole(503, b"")

            def model_strict(self, ask):
                error = {"error": {"message": "temperature must be below 2", "type": "invalid_request_error", "param": "temperature", "code": None}}
                self.whole(400, json.dumps(error).encode())

            def model_hangs(self, ask):
                upstream.stop.wait(60)
                self.close_connection = True

            def model_hangs_midway(self, ask):
                self.start()
                self.delta(ask, {"content": "So far"})
                upstream.stop.wait(60)
                self.close_connection = True

            def model_truncated(self, ask):
                self.start()
                self.delta(ask, {"content": "So far"})
                self.wfile.flush()
                self.connection.shutdown(2)
                self.close_connection = True

            def model_no_end(self, ask):
                self.start()
                self.delta(ask, {"content": "So far"})
                self.end()

            def model_half_event(self, ask):
                self.start()
                self.chunk(b'data: {"cho')
                self.connection.shutdown(2)
                self.close_connection = True

            def model_long_line(self, ask):
                self.start()
                self.chunk(b"data: ")
                for _ in range(int(ask.get("megabytes", 1000))):
                    self.chunk(b"x" * (1 << 20))
                self.end()

            def model_bad_utf8(self, ask):
                self.start()
                self.chunk(b'data: {"choices":[{"index":0,"delta":{"content":"\xff\xfe"}}]}\n\n')
                self.end(b"data: [DONE]\n\n")

            def model_not_json(self, ask):
                self.whole(200, b"it works!", {"content-type": "text/plain"})

            def model_unasked(self, ask):
                """A complete response of this many bytes, even if a stream was requested."""
                empty = {"id": "c1", "object": "chat.completion", "created": 5, "model": ask["model"],
                         "choices": [{"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "stop"}]}
                empty["choices"][0]["message"]["content"] = "".join(words(ask["bytes"] // 5))[:ask["bytes"] - len(json.dumps(empty))]
                self.whole(200, json.dumps(empty).encode())

            def model_error_event(self, ask):
                self.start()
                self.delta(ask, {"content": "So far"})
                self.event({"error": {"message": "context is full", "type": "server_error", "param": None, "code": "oops"}})
                self.end()

            def model_endless(self, ask):
                self.start()
                for piece in itertools.count():
                    if upstream.stop.is_set():
                        break
                    self.delta(ask, {"content": "".join(f"x{piece}y{i} " for i in range(100))})

            def missing(self, ask):
                error = {"error": {"message": f"no model {ask['model']}", "type": "invalid_request_error", "param": None, "code": "model_not_found"}}
                self.whole(404, json.dumps(error).encode())

            def whole(self, status, body, headers=None):
                self.send_response(status)
                for name, value in {"content-type": "application/json", "x-litellm-call-id": "call-1", **(headers or {})}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def start(self):
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("x-litellm-call-id", "call-1")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()

            def delta(self, ask, delta, finish=None):
                self.event({"id": "c1", "object": "chat.completion.chunk", "created": 5, "model": ask["model"],
                            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

            def event(self, value):
                self.chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

            def chunk(self, data):
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()

            def end(self, data=b""):
                if data:
                    self.chunk(data)
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        if tls:
            # The handshake runs on the connection's own thread, so a failed one does not affect others.
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
            self.server.handle_error = lambda *_: None
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}/v1"

    def note(self, handler, body):
        self.bodies.append(body)
        self.paths.append(handler.path)
        self.headers.append({name.lower(): value for name, value in handler.headers.items()})

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.server.shutdown()
        self.server.server_close()
