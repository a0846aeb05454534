"""Speaks Ollama's protocol in front of an OpenAI-compatible server: /api/chat, /api/tags, /api/ps, /api/version.

Arguments: port, the other server's address, model id, context in tokens. For tests: one model, always loaded.
"""

import http.client
import json
import sys
import urllib.parse
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, UPSTREAM, MODEL, CONTEXT = int(sys.argv[1]), urllib.parse.urlsplit(sys.argv[2]), sys.argv[3], int(sys.argv[4])
VERSION = "0.12.0"


def now() -> str:
    return datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")


def message(given: dict) -> dict:
    """A message in OpenAI's form: arguments as a text, calls and results joined by an id."""
    out = {"role": given["role"], "content": given.get("content", "")}
    if given.get("tool_calls"):
        out["tool_calls"] = [
            {"id": f"call_{at}", "type": "function",
             "function": {"name": call["function"]["name"], "arguments": json.dumps(call["function"]["arguments"])}}
            for at, call in enumerate(given["tool_calls"])
        ]
    if given["role"] == "tool":
        out["tool_call_id"] = "call_0"
    return out


def question(asked: dict) -> dict:
    """The request in OpenAI's form. Unknown options are refused, so that a misspelt one is noticed."""
    options = dict(asked.get("options") or {})
    out = {"model": asked["model"], "messages": [message(each) for each in asked["messages"]],
           "stream": True, "stream_options": {"include_usage": True}}
    for theirs, ours in (("num_predict", "max_tokens"), ("temperature", "temperature"), ("seed", "seed")):
        if theirs in options:
            out[ours] = options.pop(theirs)
    if options.pop("num_ctx", CONTEXT) > CONTEXT:
        raise ValueError(f"num_ctx is more than {CONTEXT}")
    if options:
        raise ValueError(f"unknown options: {sorted(options)}")
    form = asked.get("format")
    if isinstance(form, dict):
        out["response_format"] = {"type": "json_schema", "json_schema": {"name": "format", "schema": form}}
    elif form == "json":
        out["response_format"] = {"type": "json_object"}
    if asked.get("tools"):
        out["tools"] = asked["tools"]
    return out


class Handler(BaseHTTPRequestHandler):
    """One connection, one request."""

    def log_message(self, *_):
        pass

    def answer(self, status: int, body: dict) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        model = {"name": MODEL, "model": MODEL, "details": {"format": "gguf"}}
        if self.path == "/api/version":
            self.answer(200, {"version": VERSION})
        elif self.path == "/api/tags":
            self.answer(200, {"models": [model]})
        elif self.path == "/api/ps":
            self.answer(200, {"models": [model | {"context_length": CONTEXT}]})
        else:
            self.answer(404, {"error": "not found"})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/api/chat":
            self.answer(404, {"error": "not found"})
        elif asked.get("model") != MODEL:
            self.answer(404, {"error": f"model {asked.get('model')!r} not found"})
        else:
            try:
                body = json.dumps(question(asked))
            except (KeyError, ValueError) as error:
                self.answer(400, {"error": str(error)})
                return
            self.chat(body, asked.get("stream", True))

    def chat(self, body: str, streams: bool) -> None:
        connection = http.client.HTTPConnection(UPSTREAM.hostname, UPSTREAM.port)
        try:
            connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            if reply.status != 200:
                error = json.loads(reply.read()).get("error", {})
                self.answer(reply.status, {"error": error.get("message", "unknown")})
                return
            self.relay(reply, streams)
        except (BrokenPipeError, ConnectionResetError):
            # Whoever asked has gone; closing the other connection stops the model.
            pass
        finally:
            connection.close()

    def relay(self, reply, streams: bool) -> None:
        text, reason, usage = [], "stop", {}
        if streams:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.end_headers()
        for line in reply:
            if not line.startswith(b"data: {"):
                continue
            chunk = json.loads(line[len(b"data: "):])
            usage = chunk.get("usage") or usage
            for choice in chunk.get("choices", []):
                reason = choice.get("finish_reason") or reason
                piece = choice["delta"].get("content")
                if piece and streams:
                    self.line({"message": {"role": "assistant", "content": piece}, "done": False})
                text.append(piece or "")
        last = {"message": {"role": "assistant", "content": "" if streams else "".join(text)}, "done": True,
                "done_reason": reason, "prompt_eval_count": usage.get("prompt_tokens", 0),
                "eval_count": usage.get("completion_tokens", 0)}
        if streams:
            self.line(last)
        else:
            self.answer(200, {"model": MODEL, "created_at": now()} | last)

    def line(self, body: dict) -> None:
        self.wfile.write(json.dumps({"model": MODEL, "created_at": now()} | body).encode() + b"\n")
        self.wfile.flush()


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
