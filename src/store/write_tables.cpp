// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "store/query.h"
#include "store/record.h"
#include "store/tables.h"
#include "table/digest.h"

namespace almanac::store {
namespace {

template <typename Record>
Query& bind_fields(Query& query, const Record& record) {
  each_field(record, [&](std::string_view, const auto& field) { query.with(field); });
  return query;
}

template <typename Record>
void insert(Connection& connection, const std::string& sql, const Record& record) {
  Query query(connection, sql);
  bind_fields(query, record).run();
}

template <typename Record>
std::string insert_into(std::string_view table) {
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", table, columns<Record>(),
                     placeholders<Record>());
}

/// The row of `bytes` in content, new or there; none of nothing.
std::optional<std::int64_t> content_of(Connection& connection, const std::string& bytes) {
  if (bytes.empty()) return std::nullopt;
  const std::string digest = table::sha256(bytes);
  {
    Query found(connection, "SELECT id FROM content WHERE sha256 = ?");
    if (found.with(digest).step()) return found.next<std::int64_t>();
  }
  Query added(connection, "INSERT INTO content (sha256, bytes) VALUES (?, CAST(? AS BLOB))");
  added.with(digest).with(bytes).run();
  return connection.database().getLastInsertRowid();
}

bool is_there(Connection& connection, JobNumber submission) {
  Query query(connection, "SELECT 1 FROM submission WHERE number = ?");
  return query.with(submission).step();
}

void write_submission(Connection& connection, JobNumber number, const Submission& asked) {
  const auto script = content_of(connection, asked.script);
  const auto environment = content_of(connection, packed(asked.environment));
  static const std::string sql = fmt::format(
      "INSERT INTO submission (number, argv, script, environment, {}) VALUES (?, ?, ?, ?, {})",
      columns<Submission>(), placeholders<Submission>());
  Query query(connection, sql);
  query.with(number).with(asked.argv).with(script).with(environment);
  bind_fields(query, asked).run();
}

}  // namespace

void write(Connection& connection, const Job& job) {
  {
    static const std::string sql =
        fmt::format("UPDATE job SET {} WHERE number = ?", columns<Job>("", " = ?"));
    Query query(connection, sql);
    if (bind_fields(query, job).with(job.number).run() > 0) return;
  }
  const JobNumber submission = job.task ? job.task->array : job.number;
  if (!is_there(connection, submission)) write_submission(connection, submission, job.asked);
  static const std::string sql = fmt::format(
      "INSERT INTO job (number, submission, task, task_at_once, {}) VALUES (?, ?, ?, ?, {})",
      columns<Job>(), placeholders<Job>());
  Query query(connection, sql);
  query.with(job.number).with(submission);
  const auto of_task = [&](auto field) {
    return job.task ? std::optional(job.task.value().*field) : std::nullopt;
  };
  query.with(of_task(&ArrayTask::index)).with(of_task(&ArrayTask::at_once));
  bind_fields(query, job).run();
}

std::uint64_t differing_fields(const Job& before, const Job& after) {
  std::vector<const void*> fields;
  each_field(before, [&](std::string_view, const auto& field) { fields.push_back(&field); });
  std::uint64_t made = 0;
  std::size_t at = 0;
  each_field(after, [&]<typename Field>(std::string_view, const Field& field) {
    if (!(*static_cast<const Field*>(fields[at]) == field)) made |= std::uint64_t{1} << at;
    ++at;
  });
  return made;
}

bool JobUpdate::run(const Job& job, std::uint64_t fields) {
  const auto each_wanted = [&](const auto& visit) {
    std::size_t at = 0;
    each_field(job, [&](std::string_view name, const auto& field) {
      if ((fields >> at++ & 1U) != 0) visit(name, field);
    });
  };
  if (sql_.empty() || fields != fields_) {
    fields_ = fields;
    sql_.clear();
    each_wanted([&](std::string_view name, const auto&) {
      sql_ += fmt::format("{}{} = ?", sql_.empty() ? "UPDATE job SET " : ", ", name);
    });
    sql_ += " WHERE number = ?";
  }
  Query query(connection_, sql_);
  each_wanted([&](std::string_view, const auto& field) { query.with(field); });
  return query.with(job.number).run() > 0;
}

void write(Connection& connection, const Note& note) {
  static const std::string sql = insert_into<Note>("note");
  insert(connection, sql, note);
}

void write(Connection& connection, const Told& told) {
  static const std::string sql = insert_into<Told>("told");
  insert(connection, sql, told);
}

void write(Connection& connection, const Report& report) {
  // A run that begins again reports the same steps, and a service what it has seen before.
  static const std::string sql =
      insert_into<Report>("report") +
      " ON CONFLICT (job, step) DO UPDATE SET metric = excluded.metric, at_ms = excluded.at_ms"
      " WHERE metric != excluded.metric";
  insert(connection, sql, report);
  std::int64_t there = 0;
  {
    Query count(connection, "SELECT COUNT(*) FROM report WHERE job = ?");
    count.with(report.job).step();
    there = count.next<std::int64_t>();
  }
  if (there <= kMostReports) return;
  Query thins(
      connection,
      "DELETE FROM report WHERE job = ?1 AND step IN (SELECT step FROM (SELECT step, metric, "
      "ROW_NUMBER() OVER (ORDER BY step DESC) AS place, MIN(metric) OVER () AS least, "
      "MAX(metric) OVER () AS most FROM report WHERE job = ?1) "
      "WHERE place % 2 = 0 AND metric NOT IN (least, most))");
  thins.with(report.job).run();
}

void write(Connection& connection, const Moment& moment) {
  // A clock that was set back comes by a second time.
  static const std::string sql = "INSERT OR REPLACE" + insert_into<Moment>("moment").substr(6);
  insert(connection, sql, moment);
}

void write(Connection& connection, const std::pair<std::string, std::string>& setting) {
  Query query(connection,
              "INSERT INTO setting (key, value) VALUES (?, ?) "
              "ON CONFLICT (key) DO UPDATE SET value = excluded.value");
  query.with(setting.first).with(setting.second).run();
}

std::int64_t drop_jobs(Connection& connection, Time before, std::int64_t most) {
  const auto come_after = [](std::string_view list) {
    return fmt::format(
        "SELECT before.value FROM job AS waiting INDEXED BY job_unfinished"
        " JOIN submission ON submission.number = waiting.submission,"
        " json_each(submission.{}) AS before"
        " WHERE waiting.state IN ('PENDING', 'RUNNING')",
        list);
  };
  // The number of an array is that of its submission: its tasks go together.
  static const std::string sql = fmt::format(
      "WITH awaited(number) AS ({} UNION {} UNION {} UNION {}) "
      "DELETE FROM job WHERE number IN ("
      "  SELECT number FROM job WHERE end_ms < ? AND state NOT IN ('PENDING', 'RUNNING')"
      "  AND number NOT IN awaited AND submission NOT IN awaited LIMIT ?)",
      come_after("after"), come_after("after_ok"), come_after("after_not_ok"),
      come_after("after_start"));
  Query query(connection, sql);
  return query.with(before.time_since_epoch().count()).with(most).run();
}

void drop_environments(Connection& connection, Time before) {
  Query drops(
      connection,
      "UPDATE submission SET environment = NULL WHERE environment IS NOT NULL AND NOT EXISTS "
      "(SELECT 1 FROM job WHERE submission = submission.number AND (end_ms IS NULL OR "
      "end_ms >= ?))");
  if (drops.with(before.time_since_epoch().count()).run() == 0) return;
  Query sweeps(
      connection,
      "DELETE FROM content WHERE NOT EXISTS (SELECT 1 FROM submission WHERE script = "
      "content.id) AND NOT EXISTS (SELECT 1 FROM submission WHERE environment = content.id)");
  sweeps.run();
}

void drop_moments(Connection& connection, Time before) {
  Query query(connection, "DELETE FROM moment WHERE at_ms < ?");
  query.with(before.time_since_epoch().count()).run();
}

}  // namespace almanac::store
