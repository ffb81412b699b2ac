# SPDX-License-Identifier: Apache-2.0
"""Reads the program's CSV as a table: a pandas.DataFrame if pandas is installed, otherwise a dict of columns."""
import csv
import io

from almanac.program import Error

try:
    import pandas
except ImportError:
    pandas = None

# Columns of text, even if all values in a log are digits.
WORDS = ("job_id", "name", "user", "vc", "kind", "model", "qos", "gpu_type", "state", "after", "policy", "signature")
# Seconds since the epoch, or since the start of the log.
MOMENTS = ("submit_s", "start_s", "end_s", "deadline_s", "worthless_at_s", "time_s", "from_s", "until_s")


def read_csv(text):
    """Returns `text` as a table. An empty field is missing: NaN in pandas, otherwise None."""
    if pandas is not None:
        head = text.split("\n", 1)[0].split(",")
        return pandas.read_csv(io.StringIO(text), dtype={word: object for word in WORDS if word in head},
                               keep_default_na=False, na_values=[""], low_memory=False)
    rows = list(csv.reader(io.StringIO(text)))
    head, rows = rows[0], [row for row in rows[1:] if row]
    return {name: _column(name, [row[at] for row in rows]) for at, name in enumerate(head)}


def _column(name, cells):
    if name in WORDS:
        return [cell if cell else None for cell in cells]
    for kind in int, float:
        try:
            return [kind(cell) if cell else None for cell in cells]
        except ValueError:
            continue
    return [cell if cell else None for cell in cells]


def with_dates(table):
    """Returns the table with its times as pandas UTC datetimes, for logs with times since the epoch."""
    if pandas is None:
        raise Error("dates need pandas: pip install pandas")
    table = table.copy()
    for name in MOMENTS:
        if name in table:
            table[name] = pandas.to_datetime(table[name], unit="s", utc=True)
    return table


def to_parquet(table, path, dates=False):
    """Writes a table as Parquet with pandas and pyarrow. `dates`: write times as UTC timestamps instead of seconds."""
    if pandas is None:
        raise Error("parquet needs pandas and pyarrow: pip install pandas pyarrow")
    try:
        (with_dates(table) if dates else table).to_parquet(path, index=False)
    except ImportError as error:
        raise Error("parquet needs pyarrow: pip install pyarrow") from error
