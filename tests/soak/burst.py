#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hundreds of clients of one user at once. Prints as JSON how many were answered.

burst.py UID GID SOCKET CLIENTS
"""
import collections
import http.client
import json
import os
import socket
import sys
import threading

os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[1]))
SOCKET, CLIENTS = sys.argv[3], int(sys.argv[4])
did, lock = collections.Counter(), threading.Lock()


def ask(path):
    """The status of an answer; 0 = none."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    try:
        connection.sock.settimeout(60)
        connection.sock.connect(SOCKET)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def client():
    for path in ("/v1/overview", "/v1/jobs", "/healthz"):
        status = ask(path)
        with lock:
            did[f"answers {status // 100}xx in bursts" if status else "requests in bursts that were cut off"] += 1


threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(json.dumps({"did": did, "wrong": [], "mine": []}))
