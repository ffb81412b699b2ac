# SPDX-License-Identifier: Apache-2.0
"""Finds and runs the program `almanac`, and reports its errors."""
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


class Error(Exception):
    """Error message of the program, without the program's name.

    status: exit status, see `man almanac`: 2 wrong usage, 65 invalid data, 66 no such file.
    """

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status


def find():
    """Returns the path of the program: $ALMANAC_PROGRAM, or the one that the wheel brought, or the one on PATH, or that of the clone
    from which this package was installed."""
    told = os.environ.get("ALMANAC_PROGRAM")
    if told:
        return told
    brought = _brought_by_wheel()
    if brought:
        return brought
    on_path = shutil.which("almanac")
    if on_path:
        return on_path
    built = pathlib.Path(__file__).with_name("built_program")
    if built.exists() and pathlib.Path(built.read_text().strip()).exists():
        return built.read_text().strip()
    raise Error("the program almanac is not on PATH: build it, or set ALMANAC_PROGRAM to its path")


def _brought_by_wheel():
    """Returns the program that was installed with this package, whether or not its environment is active; None if none was."""
    try:
        files = importlib.metadata.files("almanac-scheduling") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for each in files:
        path = each.locate()
        if each.parts[-2:] == ("bin", "almanac") and os.access(path, os.X_OK):
            return os.path.normpath(path)
    return None


def main():
    """Becomes the program. `uvx almanac-scheduling` starts the command that is named as the package is."""
    os.execv(find(), ["almanac", *sys.argv[1:]])


class Child:
    """The running program, which communicates over standard input and output."""

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
            raise Error("the program ended too early") from None

    def hear(self):
        """Returns the next line; raises the program's error if it has ended."""
        line = self._process.stdout.readline()
        if not line:
            self.finish()
            raise Error("the program ended without a message")
        return line

    def finish(self):
        """Returns the rest of the output. Raises Error if the program fails."""
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
        """Stops the program if it is still running, and frees its resources."""
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
