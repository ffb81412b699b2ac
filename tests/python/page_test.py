#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/guide/python.md: each example runs, one after the other, and prints what stands below it."""
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python")]

text = (ROOT / "docs/guide/python.md").read_text()
examples = re.findall(r"```python\n(.*?)```\n(?:\n```\n(.*?)```)?", text, re.DOTALL)
assert len(examples) >= 3, f"only {len(examples)} examples in docs/guide/python.md"
failures = 0
scope = {}
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for code, wanted in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/guide/python.md", "exec"), scope)
        if printed.getvalue() != wanted:
            failures += 1
            print(f"docs/guide/python.md: this\n{code}prints\n{printed.getvalue()}not\n{wanted}")
    os.chdir("/")
sys.exit(1 if failures else 0)
