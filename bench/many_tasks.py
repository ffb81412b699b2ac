# SPDX-License-Identifier: Apache-2.0
"""A service with a state folder of its own that lets one user queue very many tasks."""

import http.client
import os
import pathlib
import socket
import subprocess
import sys
import time

AT_ONCE = 100_000  # tasks that one array has at most

LIMITS = """[site]
jobs = 10000000
[user]
jobs = 10000000
tasks = 100000
submissions_per_minute = 100000
"""


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def ask(self, method, target, body=None):
        self.request(method, target, body, {"Content-Type": "application/json"} if body else {})
        answer = self.getresponse()
        return answer.status, answer.read()


class Service:
    def __init__(self, almanac, folder):
        self.almanac, self.folder = os.path.abspath(almanac), folder
        self.socket = f"{folder}/state/almanac.sock"
        pathlib.Path(folder, "limits.toml").write_text(LIMITS)
        self.begin()

    def begin(self):
        log = pathlib.Path(self.folder, f"log{time.monotonic_ns()}")
        with log.open("w") as out:
            self.process = subprocess.Popen(
                [self.almanac, "serve", "--state", f"{self.folder}/state", "--gpus", "8", "--limits",
                 f"{self.folder}/limits.toml"], stderr=out)
        while "listening on" not in log.read_text():
            if self.process.poll() is not None:
                sys.exit(log.read_text())
            time.sleep(0.01)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, *words):
        return subprocess.run([self.almanac, words[0], "--socket", self.socket, *words[1:]], check=True,
                              capture_output=True, text=True).stdout

    def submit(self, tasks):
        """The numbers of the arrays that so many tasks make."""
        return [self.ask("submit", "--parsable", "--gpus", "8", "--array", f"0-{min(AT_ONCE, tasks - at) - 1}",
                         "-o", "/dev/null", "--", "sleep", "1000").strip()
                for at in range(0, tasks, AT_ONCE)]

    def memory(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return f"{int(line.split()[1]) / 1024:.0f} MiB"
