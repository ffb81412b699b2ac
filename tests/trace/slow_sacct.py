# SPDX-License-Identifier: Apache-2.0
"""A second reader of what `sacct -P` prints, written to be read rather than to be fast.

It enumerates every way to give the fields of a record to the columns, reads times with Python's own
zones, and shares nothing with the reader in C++ but the rules (docs/reference/formats.md). `read()` gives
{id: job}, where a job is a dict of what `almanac trace convert` writes, and how many records could
not be read.
"""
import datetime
import re
import zoneinfo

TEXT = {"JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "Reason",
        "Container", "Extra", "StdErr", "StdIn", "StdOut", "WCKey"}
FEATURE = {"Constraints", "Licenses"}
WORD = {"User", "Partition", "Account", "QOS", "Cluster", "Group", "Reservation", "Flags"}
NO_WORD = {"Unknown", "None", "NONE", "N/A", "(null)", "None assigned", "UNLIMITED",
           "Partition_Limit", "INFINITE", "INVALID", "NO_VAL"}
NUMBER = r"-?\d+(\.\d+)?([eE]\+?\d+)?"
PATTERNS = {
    "id": r"\d+(_\[[^\s|]*|(_\d+)?(\+\d+)?(\.[A-Za-z0-9+]+)?)",
    "time": r"\d+|\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?",
    "length": r"[0-9:.\-]+",
    "count": NUMBER + "[KMGTPE]?",
    "amount": NUMBER + "[KMGTPE]?[nc]?",
    "tres": r"[^\s,=:(]+[=:]([^\s,()]|\([^)\s]*\))*(,[^\s,=:(]+[=:]([^\s,()]|\([^)\s]*\))*)*",
    "state": r"[A-Z0-9_+,]+( by .*)?",
    "word": r"\S+",
    "nodes": r"\S+",
    "exit": r"[0-9:]*:[0-9:]*",
    "feature": r"[^\s|]+(\|[^\s|]+)*",
}
KINDS = {"JobID": "id", "Submit": "time", "Start": "time", "End": "time", "Eligible": "time",
         "Elapsed": "length", "Timelimit": "length", "Suspended": "length", "TotalCPU": "length",
         "ElapsedRaw": "count", "TimelimitRaw": "count", "NNodes": "count", "AllocCPUS": "count",
         "NCPUS": "count", "ReqCPUS": "count", "AllocNodes": "count", "Priority": "count",
         "ReqMem": "amount", "MaxRSS": "amount", "AllocTRES": "tres", "ReqTRES": "tres",
         "AllocGRES": "tres", "ReqGRES": "tres", "State": "state", "NodeList": "nodes",
         "ExitCode": "exit"}
KINDS.update({name: "text" for name in TEXT})
KINDS.update({name: "feature" for name in FEATURE})
KINDS.update({name: "word" for name in WORD})
USED = ["JobID", "JobName", "User", "Partition", "Account", "QOS", "Submit", "Start", "End",
        "ElapsedRaw", "Elapsed", "TimelimitRaw", "Timelimit", "State", "NNodes", "AllocNodes",
        "NCPUS", "AllocCPUS", "ReqCPUS", "AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES", "NodeList"]
FILLED = ["ElapsedRaw", "Elapsed", "State", "Submit", "ExitCode", "NNodes",
          "AllocCPUS", "NCPUS", "CPUTime", "CPUTimeRAW"]
FILLED_FOR_JOBS = ["User", "Partition", "Timelimit", "TimelimitRaw", "Eligible", "Priority", "UID"]
STATES = ["RESIZING", "REQUEUED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL",
          "PREEMPTED", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "REVOKED", "RUNNING", "SUSPENDED",
          "PENDING", "CONFIGURING", "COMPLETING"]
MEANS = {"RESIZING": "", "REQUEUED": "PREEMPTED", "OUT_OF_MEMORY": "FAILED",
         "BOOT_FAIL": "NODE_FAIL", "DEADLINE": "TIMEOUT", "REVOKED": "CANCELLED",
         "SUSPENDED": "RUNNING", "CONFIGURING": "PENDING", "COMPLETING": "RUNNING"}


def kind_of(column):
    return "nothing" if column == "" else KINDS.get(column, "text")


def fits(kind, cell):
    if kind == "text":
        return True
    if cell == "":
        return kind != "id"
    if kind == "nothing":
        return False
    if kind not in ("id", "state") and cell in NO_WORD:
        return True
    return re.fullmatch(PATTERNS[kind], cell, re.DOTALL) is not None


def readings(fields, kinds, delimiter):
    """All lists of cells that the fields can be, where texts and features may take several."""
    if not kinds:
        return [[]] if not fields else []
    found = []
    spare = len(fields) - len(kinds)
    for more in range(spare + 1 if kinds[0] in ("text", "feature") else 1):
        cell = delimiter.join(fields[:more + 1]).strip(" \r")
        if spare < 0 or not fits(kinds[0], cell):
            continue
        found += [[cell] + rest for rest in readings(fields[more + 1:], kinds[1:], delimiter)]
    return found


class Table:
    def __init__(self, text):
        lines = [line[:-1] if line.endswith("\r") else line for line in text.split("\n")]
        lines[0] = lines[0].removeprefix("\ufeff")
        while not lines[0].strip():
            lines.pop(0)
        self.header_line = lines[0]
        self.delimiter = re.match(r"[A-Za-z0-9]+([^A-Za-z0-9]+)", lines[0])[1]
        self.columns = [name.strip() for name in lines[0].split(self.delimiter)]
        self.kinds = [kind_of(name) for name in self.columns]
        self.used = [i for i, name in enumerate(self.columns) if name in USED]
        self.id = self.columns.index("JobID")
        self.lines = lines[1:]
        self.vocabulary = None

    def ways(self, record):
        fields = record.split(self.delimiter)
        if len(fields) < len(self.columns):
            return []
        ways = readings(fields, self.kinds, self.delimiter)
        if len(fields) == len(self.columns):
            return ways
        # What a delimiter has shifted must have values where sacct always prints some.
        filled = set(FILLED)
        if not any(kind in ("text", "feature") for kind in self.kinds[:self.id]):
            if "." not in fields[self.id]:
                filled |= set(FILLED_FOR_JOBS)
        needed = [i for i, name in enumerate(self.columns) if name in filled]
        return [way for way in ways if all(way[i] for i in needed)]

    def odd(self, record):
        return len(record.split(self.delimiter)) == len(self.columns)

    def begins(self, line):
        if line == self.header_line:
            return True
        cells = [field.strip(" \r") for field in line.split(self.delimiter)]
        if len(cells) == len(self.columns) and self.ways(line):
            return True
        return (len(cells) > max(self.id, 1) and
                all(fits(self.kinds[i], cells[i]) for i in range(self.id + 1)))

    def records(self):
        at = 0
        while at < len(self.lines):
            line = self.lines[at]
            if not line.strip(" \t\r") or line == self.header_line:
                at += 1
                continue
            taken = 1 if self.ways(line) else 0
            size = 1
            while not taken or self.kinds[-1] == "text":
                if at + size >= len(self.lines):
                    break
                begins = self.begins(self.lines[at + size])
                name = self.kinds[0] == "text" and self.delimiter not in line
                if begins and (taken or not name or self.kinds[-1] == "text"):
                    break
                size += 1
                if self.ways("\n".join(self.lines[at:at + size])):
                    taken = size
                if begins:
                    break
            taken = max(taken, 1)
            yield "\n".join(self.lines[at:at + taken])
            at += taken

    def known(self):
        if self.vocabulary is None:
            self.vocabulary = [set() for _ in self.columns]
            for line in self.lines:
                if self.odd(line) and (ways := self.ways(line)) and "." not in ways[0][self.id]:
                    for i, cell in enumerate(ways[0]):
                        self.vocabulary[i].add(cell)
        return self.vocabulary

    def cells(self, record):
        """The cells by column; nothing for a record that cannot be read."""
        ways = self.ways(record)
        if not ways and self.odd(record) and "\n" not in record:
            ways = [[field.strip(" \r") for field in record.split(self.delimiter)]]

        def different(these):
            return {tuple(way[i] for i in self.used) for way in these}

        if len(different(ways)) > 1:
            def among(columns):
                return [way for way in ways
                        if all(way[i] == "" or way[i] in self.known()[i] for i in columns)]
            words = [i for i, kind in enumerate(self.kinds) if kind == "word"]
            site = [i for i in words if self.columns[i] not in ("User", "Group")]
            by_words = among(words)
            if not by_words:
                by_words = among(site)
            ways = by_words
        if len(different(ways)) != 1:
            return None
        return dict(zip(self.columns, (cell.replace("\n", " ").rstrip(" ") for cell in ways[0])))


def number(cell, bits=32):
    if cell in NO_WORD or cell == "":
        return None
    value = float(cell.rstrip("KMGTPE")) * 1024 ** (" KMGTPE".find(cell[-1]) if cell[-1] in "KMGTPE" else 0)
    codes = {2 ** 32 - 3, 2 ** 32 - 2, 2 ** 32 - 1} | ({65534, 65535} if bits == 16 else set())
    return None if value < 0 or value > 9e18 or value in codes else value


def length(cell):
    if cell in NO_WORD or cell == "":
        return None
    days, _, clock = cell.rpartition("-")
    parts = [float(part) for part in clock.split(":")]
    seconds = 0.0
    for part in parts:
        seconds = seconds * 60 + part
    seconds += 86400 * float(days or 0)
    return None if seconds >= 2 ** 32 - 3 else seconds


def moments(cell, zone):
    """What a time may mean, in seconds since 1970."""
    if cell in NO_WORD or cell == "" or cell.startswith(("1970-01-01", "1969-12-31", "2106-02-0")):
        return [None]
    if cell.isdigit():
        return [None] if int(cell) in (0, 2 ** 32 - 2, 2 ** 32 - 1) else [float(cell)]
    time = datetime.datetime.fromisoformat(cell)
    if time.tzinfo:
        return [time.timestamp()]
    both = [time.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1)]
    shown = [datetime.datetime.fromtimestamp(at, zone).replace(tzinfo=None) for at in both]
    if shown != [time, time]:  # the clock skips it
        return [both[0]]
    return both[:1] if both[0] == both[1] else both


def tres(cell):
    gpus = typed = None
    types = []
    made = {"cpus": None, "memory_gb": None, "nodes": None}
    for item in re.sub(r"\([^)]*\)", "", cell).split(","):
        if not item:
            continue
        name, equals, amount = item.partition("=")
        if not equals:
            name, _, amount = item.rpartition(":")
            name = "gres/" + name.removeprefix("gres:").replace("7696487", "gpu")
        if name == "mem":
            unit = {"K": 2 ** -20, "M": 2 ** -10, "G": 1, "T": 2 ** 10, "P": 2 ** 20, "E": 2 ** 30}
            value = (float(amount[:-1]) * unit[amount[-1]] if amount[-1] in unit
                     else float(amount) / 1024)
            made["memory_gb"] = value if value < 9e8 else None
        elif name in ("cpu", "node"):
            made["cpus" if name == "cpu" else "nodes"] = number(amount)
        elif name == "gres/gpu":
            gpus = number(amount)
        elif name.startswith("gres/gpu:") and number(amount) is not None:
            typed = (typed or 0) + number(amount)
            types.append(name.removeprefix("gres/gpu:"))
    made["gpus"] = gpus if gpus is not None else typed or 0
    made["gpu_type"] = "|".join(types)
    return made


def state(cell):
    found = []
    for word in re.split(r"[, ]|\+(?=[A-Z])", cell.split(" by ")[0]):
        cut = word.endswith("+")
        word = word.rstrip("+")
        known = [each for each in STATES
                 if each == word or (cut and len(word) >= 4 and each.startswith(word))]
        if word in STATES:
            known = [word]
        found += known if len(known) == 1 else []
    return min(found, key=STATES.index) if found else None


def first(cells, names, read):
    """What the first of the columns that the table has says."""
    for name in names:
        if name in cells:
            return read(cells[name])
    return None


def best_reading(submits, starts, ends, run, wanted, earliest):
    def cost(times):
        submit, start, end = times
        excess = end - start - run if start is not None and end is not None else 0
        wait = start - submit if start is not None else 0
        other = wanted is not None and len(submits) > 1 and submit != submits[wanted]
        other = other or submit < earliest
        return (excess < 0, abs(excess), wait < 0, other, wait)
    return min(((a, b, c) for a in submits for b in starts for c in ends), key=cost)


def rows_of(table, zone):
    rows, unread = [], 0
    for record in table.records():
        head = record.split(table.delimiter)
        if not any(kind in ("text", "feature") for kind in table.kinds[:table.id]):
            if len(head) > table.id and fits("id", head[table.id]) and "." in head[table.id]:
                continue
        cells = table.cells(record)
        if cells is None:
            unread += 1
            continue
        if "." in cells["JobID"]:
            continue
        source = next((cells[name] for name in ("AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES")
                       if cells.get(name, "") not in ("", "(null)")), "")
        has = tres(source)
        cpus = first(cells, ["NCPUS", "AllocCPUS", "ReqCPUS"], number)
        nodes = first(cells, ["NNodes", "AllocNodes"], lambda cell: number(cell, 16))
        run = first(cells, ["ElapsedRaw"], number) if "ElapsedRaw" in cells else length(cells["Elapsed"])
        limit = (number(cells["TimelimitRaw"]) if "TimelimitRaw" in cells
                 else length(cells.get("Timelimit", "")))
        if limit is not None and "TimelimitRaw" in cells:
            limit *= 60
        word = state(cells.get("State", ""))
        rows.append({
            "id": cells["JobID"], "name": cells.get("JobName", ""), "user": cells.get("User", ""),
            "vc": cells.get("Partition", ""), "gpus": has["gpus"], "gpu_type": has["gpu_type"],
            "cpus": has["cpus"] if has["cpus"] is not None else cpus, "memory_gb": has["memory_gb"],
            "nodes": has["nodes"] or nodes or 0, "limit": limit, "run": run, "word": word,
            "state": MEANS.get(word, word or ""),
            "moments": [moments(cells.get(name, ""), zone) for name in ("Submit", "Start", "End")]})
    return rows, unread


def settle_clock(rows):
    folds, last_ends = {}, {}
    ids = [row["id"] for row in rows]
    for row in rows:
        if len(row["moments"][0]) > 1 and ids.count(row["id"]) == 1:
            folds.setdefault(row["moments"][0][0] // 86400, []).append(row)
    for row in rows:
        wanted = None
        if len(row["moments"][0]) > 1 and ids.count(row["id"]) == 1:
            def key(other):
                return int(re.match(r"\d+", other["id"])[0])

            def minute(other):
                return other["moments"][0][0] // 60
            beside = folds[row["moments"][0][0] // 86400]
            order = sorted(beside, key=key)
            at = next(i for i, other in enumerate(order) if other is row)
            later = sum(minute(other) > minute(row) for other in order[:at])
            earlier = sum(minute(other) < minute(row) for other in order[at + 1:])
            wanted = 1 if later > earlier else 0 if earlier > later else None
        earliest = last_ends.get(row["id"], float("-inf"))
        submit, start, end = best_reading(*row["moments"], row["run"], wanted, earliest)
        last_ends[row["id"]] = float("-inf") if end is None else end
        if start is not None and end is not None and end - start < row["run"]:
            end = start + row["run"]
        if start is not None and start < submit:
            submit = start
        row.update(submit=submit, start=start, end=end)


def same_job(a, b):
    if a["user"] and b["user"] and a["user"] != b["user"]:
        return False
    if a["submit"] == b["submit"]:
        return True
    if a["name"] != b["name"] or a["end"] is None:
        return False
    gap = b["submit"] - a["end"]
    again = a["state"] in ("PREEMPTED", "NODE_FAIL")
    return -600 <= gap <= (30 * 86400 if again else 600)


def told_again(a, b):
    if a["submit"] != b["submit"]:
        return False
    if a["word"] == "RESIZING":
        return b["word"] == "RESIZING" and (a["start"], a["run"]) == (b["start"], b["run"])
    if a["start"] is None and not a["run"]:
        return True
    if a["start"] != b["start"]:
        return False
    return a["start"] is not None or a["state"] in ("RUNNING", "PENDING") or a["run"] == b["run"]


def merged(rows):
    by_gpus = any(row["gpus"] for row in rows)
    by_cores = all(row["cpus"] for row in rows)

    def weight(row):
        return row["gpus"] if by_gpus else row["cpus"] if by_cores else 1
    counted = [row for row in rows if row["run"] and weight(row)]
    job = dict(counted[0] if counted else rows[-1])
    if counted:
        job["run"] = sum(weight(row) * row["run"] for row in rows) / weight(job)
    ran = [row for row in rows if row["start"] is not None and (row["run"] or row is rows[-1])]
    job.update(submit=rows[0]["submit"], start=ran[0]["start"] if ran else None,
               end=rows[-1]["end"], state=rows[-1]["state"], limit=rows[-1]["limit"])
    return job


def read(text, zone=None):
    table = Table(text)
    rows, unread = rows_of(table, zoneinfo.ZoneInfo(zone or "UTC"))
    settle_clock(rows)
    by_id = {}
    for row in rows:
        by_id.setdefault(row["id"], []).append(row)
    jobs = {}
    for name, all_rows in by_id.items():
        def time(row):
            return (row["submit"], row["start"] is not None, row["start"] or 0,
                    row["word"] != "RESIZING", row["state"] not in ("RUNNING", "PENDING"),
                    row["run"])
        all_rows.sort(key=time)
        chains = []
        for row in all_rows:
            if not chains or not same_job(chains[-1][-1], row):
                chains.append([row])
            elif told_again(chains[-1][-1], row):
                chains[-1][-1] = row
            else:
                chains[-1].append(row)
        for i, chain in enumerate(chains):
            jobs[name if i == 0 else f"{name}#{i + 1}"] = merged(chain) if len(chain) > 1 else chain[0]
    return jobs, unread
