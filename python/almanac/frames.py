# SPDX-License-Identifier: Apache-2.0
"""CSV of the program as a table: a pandas.DataFrame where pandas is installed, else a dict of columns."""
import csv
import io

from almanac.program import Error

try:
    import pandas
except ImportError:
    pandas = None

# Text, also where all of a log's are digits.
WORDS = ("job_id", "name", "user", "vc", "kind", "model", "qos", "gpu_type", "state", "after", "policy", "signature")
# Seconds since the epoch, or from the log's own zero.
MOMENTS = ("submit_s", "start_s", "end_s", "deadline_s", "worthless_at_s", "time_s", "from_s", "until_s")


def read_csv(text):
    """The table that `text` holds. An empty field is missing: NaN in pandas, else None."""
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
    """The same table with its moments as UTC datetimes of pandas, for logs whose times are of the epoch."""
    if pandas is None:
        raise Error("dates need pandas: pip install pandas")
    table = table.copy()
    for name in MOMENTS:
        if name in table:
            table[name] = pandas.to_datetime(table[name], unit="s", utc=True)
    return table


def to_parquet(table, path, dates=False):
    """Writes a table as Parquet, by pandas and pyarrow. `dates`: moments as UTC timestamps instead of seconds."""
    if pandas is None:
        raise Error("parquet needs pandas and pyarrow: pip install pandas pyarrow")
    try:
        (with_dates(table) if dates else table).to_parquet(path, index=False)
    except ImportError as error:
        raise Error("parquet needs pyarrow: pip install pyarrow") from error
