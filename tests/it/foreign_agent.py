"""An agent of another language: answers what a prompt asks for by what is known of its case and step, in one of several ways.

    python foreign_agent.py exec            the prompt on standard input, the answer on standard output
    python foreign_agent.py http            serves chat completions, and says at which port
    python foreign_agent.py file DIR        answers signal files below DIR, until a file `over` is in it
    python foreign_agent.py batch DIR NAME  the same by the manifest, claiming each request before it looks at it
"""

import http.server
import json
import os
import pathlib
import re
import sys
import time

ANSWERS = json.load(open("answers.json"))
RUNS = ".asterisk/investigations/*"


def answer(prompt):
    node, case = re.search(r"`(\w+)` of the pipeline `[^`]*`, for case `([^`]*)`", prompt).groups()
    before = re.search(r"You have answered this step (\d+) times? before", prompt)
    return ANSWERS[case + "/" + node][int(before.group(1)) if before else 0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/chat/completions" and asked["response_format"]["type"] == "json_schema"
        content = "Here it is:\n```json\n" + json.dumps(answer(asked["messages"][-1]["content"])) + "\n```"
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        told = {"choices": [{"message": {"role": "assistant", "content": content}}], "usage": usage}
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def read(path):
    try:
        return json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError):
        return None


def see_to(signal):
    """Answers a signal that waits; whole or not at all."""
    target = pathlib.Path(signal["artifact_path"])
    if target.exists():
        return
    data = answer(pathlib.Path(signal["prompt_path"]).read_text())
    aside = target.with_suffix(f".{os.getpid()}")
    aside.write_text(json.dumps({"dispatch_id": signal["dispatch_id"], "data": data}))
    aside.replace(target)


def files(root):
    for path in root.glob(RUNS + "/*/signal.json"):
        signal = read(path)
        if signal and signal["status"] == "waiting":
            see_to(signal)


def batches(root):
    for path in root.glob(RUNS + "/batch-manifest.json"):
        for entry in (read(path) or {"signals": []})["signals"]:
            signal = read(entry["signal_path"])
            if entry["status"] != "pending" or not signal or signal["status"] != "waiting":
                continue
            try:
                os.mkdir(os.path.join(os.path.dirname(entry["signal_path"]), f"claim-{signal['dispatch_id']}"))
            except FileExistsError:
                continue
            see_to(signal)


def main(how, *args):
    if how == "exec":
        print("I looked into it.", json.dumps(answer(sys.stdin.read())), "That is all.")
    elif how == "http":
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_address[1], flush=True)
        server.serve_forever()
    else:
        root = pathlib.Path(args[0])
        while not (root / "over").exists():
            try:
                (files if how == "file" else batches)(root)
            except FileNotFoundError:
                pass  # What was there a moment ago is gone: the run is over.
            time.sleep(0.01)


main(*sys.argv[1:])
