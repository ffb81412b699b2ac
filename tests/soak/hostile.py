#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user who tries to harm the others. Prints what it did and what it got as JSON.

hostile.py UID GID SOCKET PORT VICTIM SECRET: VICTIM is another user's job, whose log says SECRET.
"""
import collections
import encodings.idna  # noqa: F401: while it can be read
import http.client
import json
import os
import socket
import sys

os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[1]))
SOCKET, PORT, VICTIM, SECRET = sys.argv[3], int(sys.argv[4]), sys.argv[5], sys.argv[6]
did, wrong, mine = collections.Counter(), [], []


def ask(method, path, body=None, by_tcp=False):
    """The status and the text of an answer; None and why where there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    if not by_tcp:
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(60)
    try:
        if not by_tcp:
            connection.sock.connect(SOCKET)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        did[f"answers {answer.status // 100}xx to a hostile user"] += 1
        return answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        did["requests of a hostile user without an answer"] += 1
        return None, str(error)
    finally:
        connection.close()


def raw(text):
    """The status of what is sent by TCP letter for letter; None = no answer."""
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=30) as connection:
            connection.sendall(text.encode())
            words = connection.recv(100).split()
            return int(words[1]) if len(words) > 1 else None
    except (OSError, ValueError):
        return None


def submit(**asks):
    status, text = ask("POST", "/v1/jobs", {"argv": ["true"], "directory": "/", "out": "/dev/null",
                                               "grace_s": 1, **asks})
    did["submissions of a hostile user"] += 1
    if status != 201:
        return []
    numbers = json.loads(text)["numbers"]
    mine.append(numbers[0])
    return numbers


def expect(what, got, *allowed):
    """A service that is killed just now gives no answer, which is none that is wrong."""
    if got is not None and got not in (*allowed, 503):
        wrong.append(f"a hostile user {what}: status {got}, expected {' or '.join(map(str, allowed))}")


# What one's own limits and lists do to others.
for limit in ("nofile=0", "nofile=4", "nproc=0", "as=0"):
    submit(gpus=1, resource_limits=[limit], indices=list(range(20)))
before = submit(hold=True, indices=list(range(1000)))
if before:
    submit(after=before, indices=list(range(5000)), gpus=1)
long_words = submit(hold=True, argv=["true", "x" * 1_000_000], indices=list(range(1000)))
status, text = ask("GET", "/v1/jobs?limit=10000")
if status == 200 and len(text) > 48 << 20:
    wrong.append(f"a list of jobs has {len(text)} bytes")
expect("asks for a body that is too long", ask("POST", "/v1/jobs", {"argv": ["x" * (3 << 20)]})[0], 413)

# What is another's.
for by_tcp in (False, True):
    for page in ("", "/explain", "/events"):
        status, text = ask("GET", f"/v1/jobs/{VICTIM}{page}", by_tcp=by_tcp)
        if SECRET in text:
            wrong.append(f"a hostile user reads another's log by {page or 'the job'}, TCP: {by_tcp}")
    expect("reads another's log", ask("GET", f"/v1/jobs/{VICTIM}/log", by_tcp=by_tcp)[0], 401, 403)
    for verb in ("cancel", "hold", "release", "requeue"):
        expect(f"{verb}s another's job", ask("POST", f"/v1/jobs/{VICTIM}/{verb}", by_tcp=by_tcp)[0], 401, 403)
expect("updates another's job", ask("POST", f"/v1/jobs/{VICTIM}/update", {"time_limit_s": 1})[0], 403)
expect("sets the policy", ask("PUT", "/v1/policy", {"policy": "fifo"})[0], 403)
expect("drains a node", ask("PUT", "/v1/nodes/n001", {"drained": True})[0], 403, 404)

# What can be read in two ways.
head = "GET /v1/overview HTTP/1.1\r\nHost: 127.0.0.1\r\n"
expect("sends two hosts", raw(head + "Host: evil.example\r\n\r\n"), 400)
expect("sends two tokens", raw(head + "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n"), 400)
expect("sends two lengths", raw(head + "Content-Length: 0\r\nContent-Length: 1\r\n\r\n"), 400)
expect("asks another host", raw("GET /v1/overview HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403)

for number in mine:
    ask("POST", f"/v1/jobs/{number}/cancel")
print(json.dumps({"did": did, "wrong": wrong, "mine": mine}))
