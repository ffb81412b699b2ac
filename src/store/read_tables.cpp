// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/failure.h"
#include "store/query.h"
#include "store/record.h"
#include "store/tables.h"
#include "table/digest.h"

namespace almanac::store {
namespace {

template <typename Record>
void read_fields(Query& query, Record& record) {
  each_field(record, [&](std::string_view, auto& field) { query.into(field); });
}

/// The rest of a job's SELECT follows.
const std::string& select_jobs() {
  static const std::string made =
      fmt::format("SELECT job.number, job.submission, job.task, job.task_at_once, {} FROM job ",
                  columns<Job>("job."));
  return made;
}

/// What submissions have asked, each read once.
class Submissions {
 public:
  explicit Submissions(Connection& connection) : connection_(connection) {}

  const Asked& of(JobNumber number) {
    const auto [at, is_new] = read_.try_emplace(number);
    if (!is_new) return at->second;
    static const std::string sql =
        fmt::format("SELECT {} FROM submission WHERE number = ?", columns<Submission>());
    Query query(connection_, sql);
    query.with(number).step();
    Submission asked;
    read_fields(query, asked);
    return at->second = std::move(asked);
  }
  /// Returns the request with its later changes. Tasks of an array with equal changes share it.
  const Asked& of(JobNumber number, const Amended& amended) {
    const Asked& first = of(number);
    if (!amended.gpus && amended.time_limit == kNoDuration) return first;
    const auto [at, is_new] =
        changed_.try_emplace({number, amended.gpus, amended.time_limit}, first);
    if (!is_new) return at->second;
    Submission& asked = at->second.change();
    asked.gpus = amended.gpus.value_or(asked.gpus);
    if (amended.time_limit != kNoDuration) asked.time_limit = amended.time_limit;
    return at->second;
  }

 private:
  Connection& connection_;
  std::map<JobNumber, Asked> read_;
  std::map<std::tuple<JobNumber, std::optional<std::int32_t>, Duration>, Asked> changed_;
};

Job read_row(Query& query, Submissions& submissions) {
  Job job;
  query.into(job.number);
  const auto submission = query.next<JobNumber>();
  const auto task = query.next<std::optional<std::int32_t>>();
  const auto at_once = query.next<std::optional<std::int32_t>>();
  read_fields(query, job);
  if (task) {
    job.task = {.array = submission,
                .index = *task,
                .at_once = job.amended.at_once.value_or(at_once.value_or(0))};
  }
  job.asked = submissions.of(submission, job.amended);
  return job;
}

std::vector<Job> rows_of(Connection& connection, Query& query) {
  Submissions submissions(connection);
  std::vector<Job> jobs;
  while (query.step()) jobs.push_back(read_row(query, submissions));
  return jobs;
}

template <typename Record>
std::vector<Record> records_of(Query& query) {
  std::vector<Record> records;
  while (query.step()) read_fields(query, records.emplace_back());
  return records;
}

}  // namespace

std::optional<Job> read_job(Connection& connection, JobNumber number) {
  static const std::string sql = select_jobs() + "WHERE job.number = ?";
  static const std::string what_runs =
      "SELECT submission.argv, script.bytes, environment.bytes, script.sha256, "
      "environment.sha256 FROM job "
      "JOIN submission ON submission.number = job.submission "
      "LEFT JOIN content AS script ON script.id = submission.script "
      "LEFT JOIN content AS environment ON environment.id = submission.environment "
      "WHERE job.number = ?";
  Query query(connection, sql);
  if (!query.with(number).step()) return std::nullopt;
  Submissions submissions(connection);
  Job job = read_row(query, submissions);
  Query runs(connection, what_runs);
  runs.with(number).step();
  Submission& asked = job.asked.change();
  runs.into(asked.argv);
  runs.into(asked.script);
  runs.into(asked.environment);
  const auto script = runs.next<std::optional<std::string>>();
  const auto environment = runs.next<std::optional<std::string>>();
  if ((script && *script != table::sha256(asked.script)) ||
      (environment && *environment != table::sha256(packed(asked.environment)))) {
    throw Refused{damaged(
        fmt::format("the stored command of job {} differs from the one submitted", number))};
  }
  return job;
}

std::optional<bool> read_ended_well(Connection& connection, JobNumber number) {
  Query query(connection,
              "SELECT MIN(state = 'COMPLETED') FROM job"
              " WHERE (number = ? OR submission = ?) AND state NOT IN ('PENDING', 'RUNNING')");
  query.with(number).with(number).step();
  const auto all = query.next<std::optional<std::int32_t>>();
  return all ? std::optional(*all != 0) : std::nullopt;
}

std::vector<Job> read_unfinished(Connection& connection) {
  static const std::string sql =
      select_jobs() + "WHERE job.state IN ('PENDING', 'RUNNING') ORDER BY job.number";
  Query query(connection, sql);
  return rows_of(connection, query);
}

std::optional<JobNumber> read_task(Connection& connection, JobNumber array, std::int32_t index) {
  Query query(connection, "SELECT number FROM job WHERE submission = ? AND task = ?");
  if (!query.with(array).with(index).step()) return std::nullopt;
  return query.next<JobNumber>();
}

std::vector<JobNumber> read_submitted(Connection& connection, std::uint32_t uid,
                                      const std::string& key) {
  Query query(
      connection,
      "SELECT number FROM job WHERE submission = (SELECT number FROM submission WHERE uid = ? "
      "AND key = ? AND key != '' ORDER BY number LIMIT 1) ORDER BY number");
  query.with(uid).with(key);
  std::vector<JobNumber> made;
  while (query.step()) made.push_back(query.next<JobNumber>());
  return made;
}

std::vector<Job> read_jobs(Connection& connection, const Filter& filter) {
  std::vector<std::string> terms;
  if (!filter.user.empty()) terms.emplace_back("submission.user = ?");
  if (!filter.name.empty()) terms.emplace_back("submission.name = ?");
  if (!filter.group.empty()) {
    terms.emplace_back("submission.trial_of = ? AND submission.trial_of != ''");  // of the index
  }
  if (!filter.states.empty()) {
    const std::vector<std::string> marks(filter.states.size(), "?");
    terms.push_back(fmt::format("job.state IN ({})", fmt::join(marks, ", ")));
  }
  if (filter.ended_since != kNoTime) terms.emplace_back("job.end_ms >= ?");
  if (filter.ended_until != kNoTime) terms.emplace_back("job.end_ms < ?");
  if (filter.below) terms.emplace_back("job.number < ?");
  if (filter.above) terms.emplace_back("job.number > ?");
  const auto waits_or_runs = [](trace::JobState state) {
    return state == trace::JobState::pending || state == trace::JobState::running;
  };
  if (std::all_of(filter.states.begin(), filter.states.end(), waits_or_runs) &&
      !filter.states.empty()) {
    terms.emplace_back("job.state IN ('PENDING', 'RUNNING')");  // there is an index of these
  }
  if (filter.last_ended_first) terms.emplace_back("job.end_ms IS NOT NULL");  // likewise
  const char* const order = filter.last_ended_first ? "job.end_ms DESC, job.number DESC"
                            : filter.above          ? "job.number"
                                                    : "job.number DESC";
  // Which they are first: only rows that are wanted are read whole and sorted.
  Query query(
      connection,
      fmt::format("{0}WHERE job.number IN (SELECT job.number FROM job JOIN submission "
                  "ON submission.number = job.submission {1}{2} "
                  "ORDER BY {3} LIMIT ?) ORDER BY {3}",
                  select_jobs(), terms.empty() ? "" : "WHERE ", fmt::join(terms, " AND "), order));
  if (!filter.user.empty()) query.with(filter.user);
  if (!filter.name.empty()) query.with(filter.name);
  if (!filter.group.empty()) query.with(filter.group);
  for (const trace::JobState state : filter.states) query.with(state);
  if (filter.ended_since != kNoTime) query.with(filter.ended_since);
  if (filter.ended_until != kNoTime) query.with(filter.ended_until);
  if (filter.below) query.with(*filter.below);
  if (filter.above) query.with(*filter.above);
  query.with(filter.limit);
  return rows_of(connection, query);
}

std::vector<Job> read_ended(Connection& connection, Time since, std::int64_t most, Time until) {
  static const std::string sql = select_jobs() +
                                 "WHERE job.number IN (SELECT number FROM job "
                                 "WHERE end_ms BETWEEN ? AND ? AND state NOT IN ('PENDING', "
                                 "'RUNNING') ORDER BY end_ms DESC LIMIT ?) "
                                 "ORDER BY job.submit_ms, job.number";
  Query query(connection, sql);
  query.with(since.time_since_epoch().count()).with(until.time_since_epoch().count()).with(most);
  return rows_of(connection, query);
}

std::vector<Note> read_notes(Connection& connection, JobNumber number) {
  static const std::string sql =
      fmt::format("SELECT {} FROM note WHERE job = ? ORDER BY id", columns<Note>());
  Query query(connection, sql);
  return records_of<Note>(query.with(number));
}

std::vector<Told> read_told(Connection& connection, JobNumber number) {
  static const std::string sql =
      fmt::format("SELECT {} FROM told WHERE job = ? ORDER BY id", columns<Told>());
  Query query(connection, sql);
  return records_of<Told>(query.with(number));
}

std::vector<Report> read_reports(Connection& connection, const std::string& group) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM submission JOIN job ON job.submission = submission.number "
      "JOIN report ON report.job = job.number "
      "WHERE trial_of = ? AND trial_of != '' ORDER BY report.job, report.step",
      columns<Report>("report."));
  Query query(connection, sql);
  return records_of<Report>(query.with(group));
}

std::vector<SweepCount> read_sweeps(Connection& connection, std::int64_t most) {
  Query query(connection,
              "SELECT trial_of, MIN(user), COUNT(*), SUM(state = 'PENDING'), "
              "SUM(state = 'RUNNING'), MIN(submit_ms) FROM submission "
              "JOIN job ON job.submission = submission.number WHERE trial_of != '' "
              "GROUP BY trial_of ORDER BY MAX(job.number) DESC LIMIT ?");
  query.with(most);
  std::vector<SweepCount> made;
  while (query.step()) {
    SweepCount& each = made.emplace_back();
    query.into(each.name);
    query.into(each.user);
    query.into(each.trials);
    query.into(each.waiting);
    query.into(each.running);
    query.into(each.begun);
  }
  return made;
}

std::vector<Moment> read_moments(Connection& connection, Time since, std::int64_t most) {
  std::int64_t there = 0;
  {
    Query count(connection, "SELECT COUNT(*) FROM moment WHERE at_ms >= ?");
    count.with(since.time_since_epoch().count()).step();
    there = count.next<std::int64_t>();
  }
  const std::int64_t each = most < 1 ? 1 : std::max<std::int64_t>(1, (there + most - 1) / most);
  // The last of each stretch, so that the newest is among them.
  static const std::string sql = fmt::format(
      "SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY at_ms) AS place FROM moment"
      " WHERE at_ms >= ?) WHERE (? - place) % ? = 0 ORDER BY at_ms",
      columns<Moment>());
  Query query(connection, sql);
  query.with(since.time_since_epoch().count()).with(there).with(each);
  return records_of<Moment>(query);
}

std::optional<std::string> read_setting(Connection& connection, const std::string& key) {
  Query query(connection, "SELECT value FROM setting WHERE key = ?");
  if (!query.with(key).step()) return std::nullopt;
  return query.next<std::string>();
}

JobNumber read_last_number(Connection& connection) {
  Query query(connection, "SELECT seq FROM sqlite_sequence WHERE name = 'job'");
  return query.step() ? query.next<JobNumber>() : JobNumber{};
}

}  // namespace almanac::store
