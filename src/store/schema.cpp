// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "store/ask.h"
#include "store/failure.h"

namespace almanac::store {
namespace {

/// "Alma": what makes a file ours (PRAGMA application_id).
constexpr std::int64_t kOurs = 0x416c6d61;

/// The step from version i to version i + 1 stands at i. One that was released stays as it is.
/// New attributes of submissions (store/ask.h) need none: a table that lacks their columns gets
/// them.
constexpr std::array kSteps{
    R"sql(
-- Scripts and environments: thousands of jobs have the same.
CREATE TABLE content (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  bytes BLOB NOT NULL
) STRICT;

-- What was asked, once for all tasks of an array; its number is that of its first job.
CREATE TABLE submission (
  number INTEGER PRIMARY KEY CHECK (number > 0),
  name TEXT NOT NULL,
  user TEXT NOT NULL,
  uid INTEGER NOT NULL,
  gid INTEGER NOT NULL,
  vc TEXT NOT NULL,
  qos TEXT NOT NULL,
  model TEXT NOT NULL,
  gpus INTEGER NOT NULL,
  max_gpus INTEGER NOT NULL,
  gpu_share REAL NOT NULL,
  gpu_type TEXT NOT NULL,
  cpus REAL,
  memory_gb REAL,
  time_limit_ms INTEGER,
  deadline_ms INTEGER,
  worthless_at_ms INTEGER,
  value REAL,
  batch INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  argv BLOB NOT NULL,
  directory TEXT NOT NULL,
  out TEXT NOT NULL,
  err TEXT NOT NULL,
  grace_ms INTEGER,
  hold INTEGER NOT NULL,
  not_before_ms INTEGER,
  after TEXT,
  after_what TEXT NOT NULL,
  requeue INTEGER NOT NULL,
  at_once INTEGER NOT NULL,
  script INTEGER REFERENCES content (id),
  environment INTEGER REFERENCES content (id)
) STRICT;
CREATE INDEX submission_user ON submission (user);
CREATE INDEX submission_script ON submission (script);
CREATE INDEX submission_environment ON submission (environment);

-- AUTOINCREMENT: no number is given twice, even when the job is long forgotten.
CREATE TABLE job (
  number INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number > 0),
  submission INTEGER NOT NULL REFERENCES submission (number),
  task INTEGER,
  task_at_once INTEGER,
  submit_ms INTEGER NOT NULL,
  state TEXT NOT NULL,
  held INTEGER NOT NULL,
  since_ms INTEGER NOT NULL,
  start_ms INTEGER,
  end_ms INTEGER,
  attained_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  preemptions INTEGER NOT NULL,
  held_gpus TEXT,
  cores TEXT,
  exit_status INTEGER,
  signal INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX job_submission ON job (submission);
CREATE INDEX job_unfinished ON job (number) WHERE state IN ('PENDING', 'RUNNING');
CREATE INDEX job_end ON job (end_ms) WHERE end_ms IS NOT NULL;

CREATE TABLE note (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE,
  at_ms INTEGER NOT NULL,
  what TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX note_job ON note (job);

CREATE TABLE told (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE,
  at_ms INTEGER NOT NULL,
  policy TEXT NOT NULL,
  start_from_ms INTEGER,
  start_to_ms INTEGER,
  end_from_ms INTEGER,
  end_to_ms INTEGER,
  share REAL NOT NULL,
  kept REAL
) STRICT;
CREATE INDEX told_job ON told (job);

CREATE TABLE moment (
  at_ms INTEGER PRIMARY KEY,
  gpus INTEGER NOT NULL,
  gpus_busy INTEGER NOT NULL,
  jobs_running INTEGER NOT NULL,
  jobs_waiting INTEGER NOT NULL,
  gpu_use REAL,
  power_w REAL
) STRICT;

CREATE TABLE setting (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What no job refers to goes with the last that did.
CREATE TRIGGER job_forgotten AFTER DELETE ON job
WHEN NOT EXISTS (SELECT 1 FROM job WHERE submission = old.submission)
BEGIN
  DELETE FROM submission WHERE number = old.submission;
END;
CREATE TRIGGER submission_forgotten AFTER DELETE ON submission
BEGIN
  DELETE FROM content WHERE id IN (old.script, old.environment)
    AND NOT EXISTS (SELECT 1 FROM submission WHERE script = content.id)
    AND NOT EXISTS (SELECT 1 FROM submission WHERE environment = content.id);
END;
)sql",
    R"sql(
-- Runs up to this one count no more: the job was to begin again after them.
ALTER TABLE job ADD COLUMN annulled INTEGER NOT NULL DEFAULT 0;
UPDATE job SET annulled = attempts WHERE state = 'PENDING' AND start_ms IS NULL;
)sql",
    R"sql(
ALTER TABLE submission ADD COLUMN io_mbs REAL;
)sql",
    R"sql(
-- Joules of its GPUs in all runs, and up to when those of the present one were counted.
ALTER TABLE job ADD COLUMN measured_j REAL NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN modelled_j REAL NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN counted_to_ms INTEGER;
ALTER TABLE moment ADD COLUMN power_is_measured INTEGER;
)sql",
    R"sql(
-- Of jobs of a Slurm: whose quotas they counted for.
ALTER TABLE submission ADD COLUMN account TEXT NOT NULL DEFAULT '';
ALTER TABLE submission ADD COLUMN partition TEXT NOT NULL DEFAULT '';
)sql",
    R"sql(
-- A job may come after some that end well and others that do not.
ALTER TABLE submission ADD COLUMN after_ok TEXT;
ALTER TABLE submission ADD COLUMN after_not_ok TEXT;
UPDATE submission SET after_ok = after, after = NULL WHERE after_what = 'ok';
UPDATE submission SET after_not_ok = after, after = NULL WHERE after_what = 'not_ok';
ALTER TABLE submission DROP COLUMN after_what;
ALTER TABLE submission ADD COLUMN umask INTEGER;
ALTER TABLE submission ADD COLUMN resource_limits BLOB NOT NULL DEFAULT x'';
)sql",
    R"sql(
-- What was measured of a job in all of its runs (store::Used).
ALTER TABLE job ADD COLUMN used_core_s REAL NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN used_core_seen_s REAL NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN used_gpu_s REAL NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN used_gpu_seen_s REAL NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN used_most_memory_gb REAL NOT NULL DEFAULT 0;
)sql",
    R"sql(
-- The sweep of which it is a trial.
ALTER TABLE submission ADD COLUMN trial_of TEXT NOT NULL DEFAULT '';
)sql",
    R"sql(
-- What was asked later than at submission.
ALTER TABLE job ADD COLUMN amended_gpus INTEGER;
ALTER TABLE job ADD COLUMN amended_time_limit_ms INTEGER;
ALTER TABLE submission ADD COLUMN warn_signal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE submission ADD COLUMN warn_before_ms INTEGER;
ALTER TABLE submission ADD COLUMN warn_shell INTEGER NOT NULL DEFAULT 0;
-- Failures after which a job was to run again, and when it may.
ALTER TABLE submission ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN again_at_ms INTEGER;
-- By which a user who submits again is given the numbers that there are.
ALTER TABLE submission ADD COLUMN key TEXT NOT NULL DEFAULT '';
CREATE INDEX submission_key ON submission (uid, key) WHERE key != '';
)sql",
    R"sql(
-- Trials of a sweep: what was drawn for each, and what it reported (store::Report).
ALTER TABLE submission ADD COLUMN parameters BLOB NOT NULL DEFAULT x'';
ALTER TABLE submission ADD COLUMN smaller_is_better INTEGER NOT NULL DEFAULT 0;
CREATE INDEX submission_trial_of ON submission (trial_of) WHERE trial_of != '';
CREATE TABLE report (
  job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE,
  step REAL NOT NULL,
  metric REAL NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (job, step)
) STRICT, WITHOUT ROWID;
)sql",
    R"sql(
ALTER TABLE submission ADD COLUMN min_gpus INTEGER NOT NULL DEFAULT 0;
)sql",
    R"sql(
-- What is wanted of the process of a job (store::Intent), which its reason told until now.
ALTER TABLE job ADD COLUMN intent TEXT NOT NULL DEFAULT '';
UPDATE job SET intent = CASE reason WHEN 'to run again' THEN 'run again' ELSE 'end' END,
               reason = CASE reason WHEN 'to run again' THEN '' ELSE reason END
 WHERE state IN ('PENDING', 'RUNNING') AND reason != '';
)sql",
    R"sql(
-- Instances of GPUs, and memory of a GPU.
ALTER TABLE submission ADD COLUMN gpu_profile TEXT NOT NULL DEFAULT '';
ALTER TABLE submission ADD COLUMN gpu_memory_gb REAL;
)sql",
    R"sql(
-- Of the least replicas of a service: no policy takes from it what it holds.
ALTER TABLE submission ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
)sql",
    R"sql(
-- What else a job may wait for, jobs on a terminal, and those of services.
ALTER TABLE submission ADD COLUMN after_start TEXT;
ALTER TABLE submission ADD COLUMN after_one INTEGER NOT NULL DEFAULT 0;
ALTER TABLE submission ADD COLUMN singleton INTEGER NOT NULL DEFAULT 0;
ALTER TABLE submission ADD COLUMN pty INTEGER NOT NULL DEFAULT 0;
ALTER TABLE submission ADD COLUMN endless INTEGER NOT NULL DEFAULT 0;
)sql",
    R"sql(
-- From here on, submission.requeue is 0 = not said, 1 = yes, 2 = no. Older versions wrote 0 for no.
)sql",
    R"sql(
-- Bytes of its output that its log lacks.
ALTER TABLE job ADD COLUMN lost_output INTEGER NOT NULL DEFAULT 0;
-- Later limit on the tasks of an array that run at once.
ALTER TABLE job ADD COLUMN amended_at_once INTEGER;
)sql",
};

/// The columns of table `submission` that hold no attribute, or one that is kept apart.
constexpr const char* kOtherColumns[] = {"number", "argv", "script", "environment"};

/// As value.h has the type in a column, of jobs that asked nothing.
template <typename T>
const char* column_type() {
  if constexpr (std::is_same_v<T, std::string>) return "TEXT NOT NULL DEFAULT ''";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "BLOB NOT NULL DEFAULT x''";
  if constexpr (std::is_integral_v<T>) return "INTEGER NOT NULL DEFAULT 0";
  if constexpr (std::is_same_v<T, double>) return "REAL NOT NULL DEFAULT 0";
  if constexpr (std::is_same_v<T, std::optional<double>>) return "REAL";
  if constexpr (requires(T list) { list.begin(); }) return "TEXT";
  return "INTEGER";
}

/// The columns of table `submission`; none = there is no such table yet.
std::set<std::string> columns_there(Connection& connection) {
  std::set<std::string> names;
  SQLite::Statement rows(connection.database(), "SELECT name FROM pragma_table_info('submission')");
  while (rows.executeStep()) names.insert(rows.getColumn(0).getString());
  return names;
}

/// What adds the columns that a file of the newest version lacks.
std::vector<std::string> missing_columns(Connection& connection) {
  const std::set<std::string> there = columns_there(connection);
  std::vector<std::string> made;
  each_ask([&]<typename T, typename Logged>(const Ask<T, Logged>& ask) {
    if (ask.column == nullptr || there.contains(ask.column_name())) return;
    made.push_back(fmt::format("ALTER TABLE submission ADD COLUMN {} {}", ask.column_name(),
                               column_type<T>()));
  });
  return made;
}

/// A column that only a later Almanac can have made; "" = there is none.
std::string unknown_column(Connection& connection) {
  std::set<std::string> unknown = columns_there(connection);
  for (const char* const each : kOtherColumns) unknown.erase(each);
  each_ask([&](const auto& ask) {
    if (ask.column != nullptr) unknown.erase(ask.column_name());
  });
  return unknown.empty() ? std::string() : *unknown.begin();
}

}  // namespace

std::int64_t newest_version() { return static_cast<std::int64_t>(kSteps.size()); }

std::int64_t version_of(Connection& connection) {
  const std::int64_t version = connection.number_of("user_version");
  if (connection.number_of("application_id") != kOurs) {
    if (version != 0 || connection.number_of("schema_version") != 0) {
      throw Refused{{Code::invalid, "this is a database of another program"}};
    }
  } else if (version > newest_version()) {
    throw Refused{
        {Code::unsupported,
         fmt::format("a newer Almanac wrote this store: tables version {}, this version knows {}",
                     version, newest_version()),
         {},
         fmt::format(
             "use the newer version, or the copy that it kept: almanac restore STORE.version-{}",
             newest_version())}};
  } else if (version == newest_version()) {
    const std::string unknown = unknown_column(connection);
    if (unknown.empty()) return version;
    throw Refused{
        {Code::unsupported,
         fmt::format("a newer Almanac wrote this store: its jobs have a column {}", unknown),
         {},
         fmt::format(
             "use the newer version, or the copy that it kept: almanac restore STORE.version-{}",
             version)}};
  }
  return version;
}

bool is_up_to_date(Connection& connection) {
  return version_of(connection) == newest_version() && missing_columns(connection).empty();
}

void bring_up_to_date(Connection& connection, std::int64_t at_most) {
  const std::int64_t newest = std::min(newest_version(), at_most);
  const std::int64_t version = version_of(connection);
  const bool stops_short = newest < newest_version();
  if (stops_short ? version >= newest : is_up_to_date(connection)) return;
  SQLite::Transaction all(connection.database(), SQLite::TransactionBehavior::IMMEDIATE);
  for (std::int64_t step = version; step < newest; ++step) {
    connection.database().exec(kSteps[static_cast<std::size_t>(step)]);
  }
  if (!stops_short) {
    for (const std::string& each : missing_columns(connection)) connection.database().exec(each);
  }
  connection.database().exec(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kOurs, newest));
  all.commit();
}

}  // namespace almanac::store
