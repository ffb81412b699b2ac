# SPDX-License-Identifier: Apache-2.0
"""The program `almanac`: where it is, and what it says when something is wrong."""
import os
import pathlib
import shutil
import subprocess
import tempfile


class Error(Exception):
    """The program has refused: its one line, without the name of the program before it.

    status: its exit status, as `man almanac` lists them: 2 wrong use, 65 wrong data, 66 no such file.
    """

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status


def find():
    """The path of the program: $ALMANAC_PROGRAM, else on PATH, else that of the clone installed from."""
    told = os.environ.get("ALMANAC_PROGRAM")
    if told:
        return told
    on_path = shutil.which("almanac")
    if on_path:
        return on_path
    built = pathlib.Path(__file__).with_name("built_program")
    if built.exists() and pathlib.Path(built.read_text().strip()).exists():
        return built.read_text().strip()
    raise Error("the program almanac is not on PATH: build it, or set ALMANAC_PROGRAM to where it is")


class Child:
    """The program with these arguments; a talk with it goes over its standard input and output."""

    def __init__(self, arguments):
        self._err = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        command = [find(), *map(str, arguments)]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._err,
                                             encoding="utf-8")
        except OSError as error:
            raise Error(f"{command[0]} cannot be started: {error.strerror}; set ALMANAC_PROGRAM") from error
        self.notes = []

    def say(self, line):
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self.finish()
            raise Error("the program has ended before it was told all") from None

    def hear(self):
        """The next line; raises what the program says if it has ended."""
        line = self._process.stdout.readline()
        if not line:
            self.finish()
            raise Error("the program has ended without a word")
        return line

    def finish(self):
        """Everything that it still prints. Raises Error where it fails."""
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        rest = self._process.stdout.read()
        status = self._process.wait()
        self._err.seek(0)
        said = [line for line in self._err.read().splitlines() if line.strip()]
        self.notes = [line.split("note: ", 1)[1] for line in said if line.startswith("almanac: note: ")]
        if status != 0:
            wrong = [line for line in said if line.startswith("almanac: ") and not line.startswith("almanac: note: ")]
            message = (wrong or said or [f"it ended with status {status}"])[-1]
            raise Error(message[len("almanac: "):] if message.startswith("almanac: ") else message, status)
        return rest

    def end(self):
        """Stops it if it still runs, and gives everything back."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        self._process.stdout.close()
        self._err.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
