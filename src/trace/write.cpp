// SPDX-License-Identifier: Apache-2.0
#include "trace/write.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "table/csv_writer.h"
#include "text/datetime.h"
#include "trace/field.h"

namespace almanac::trace {
namespace {

/// A column of our CSV.
struct OutColumn {
  std::string name;
  std::function<void(table::CsvWriter&, const Job&)> write;
  std::function<bool(const Job&)> says_something;  ///< For some job, or the column is left out.
};

/// "2020-05-27T23:58:26.125Z".
void write_date(table::CsvWriter& csv, Time time) {
  if (time == kNoTime) {
    csv.missing();
    return;
  }
  std::string date = text::format_datetime(time);
  date[date.find(' ')] = 'T';
  csv.text(date + "Z");
}

/// Whether a value says something.
bool is_told(JobKey key) { return key != kNoJobKey; }
bool is_told(NameId name) { return name != kNoName; }
bool is_told(std::integral auto number) { return number != 0; }
bool is_told(float number) { return !std::isnan(number); }
bool is_told(Time time) { return time != kNoTime; }
bool is_told(Duration length) { return length != kNoDuration; }
bool is_told(JobState state) { return state != JobState::unknown; }
bool is_told(Requeue requeue) { return requeue != Requeue::unsaid; }

void write_value(table::CsvWriter& csv, const Trace& trace, JobKey key) {
  // Most ids are numbers, and those need no string.
  const auto bits = static_cast<std::uint64_t>(key);
  if (bits >> 63 == 0) {
    csv.whole(bits);
  } else {
    csv.text(trace.id(key));
  }
}
void write_value(table::CsvWriter& csv, const Trace& trace, NameId name) {
  csv.text(trace.names[name]);
}
void write_value(table::CsvWriter& csv, const Trace&, std::integral auto number) {
  csv.whole(number);
}
void write_value(table::CsvWriter& csv, const Trace&, float number) {
  std::isinf(number) ? csv.text("inf") : csv.decimal(number);
}
void write_value(table::CsvWriter& csv, const Trace&, Time time) { csv.time(time); }
void write_value(table::CsvWriter& csv, const Trace&, Duration length) { csv.duration(length); }
void write_value(table::CsvWriter& csv, const Trace&, JobState state) {
  csv.text(to_string(state));
}
void write_value(table::CsvWriter& csv, const Trace&, Requeue requeue) {
  csv.text(to_string(requeue));
}

template <typename T>
OutColumn column_of(const FieldSpec& field, const Member<T>& member, const Trace& trace) {
  const bool always = field.written == Written::always;
  return {.name = std::string(field.name),
          .write =
              [=, &trace](table::CsvWriter& csv, const Job& job) {
                const T value = member.of(job);
                always || is_told(value) ? write_value(csv, trace, value) : void(csv.missing());
              },
          .says_something =
              [=, is_part = field.notation == Notation::part](const Job& job) {
                const T value = member.of(job);
                if constexpr (std::is_same_v<T, float>) {
                  if (is_part) return value < 1;  // all of it goes without saying
                }
                return always || is_told(value);
              }};
}

/// When a job was submitted, or else when it could start.
Time submitted(const Job& job) {
  return job.request.submitted != kNoTime ? job.request.submitted : job.request.submit;
}
Time eligible(const Job& job) { return job.request.submit; }

void add_moment(std::vector<OutColumn>& columns, std::string_view name,
                std::function<Time(const Job&)> moment, bool dated) {
  const auto says = [moment](const Job& job) { return moment(job) != kNoTime; };
  columns.push_back({std::string(name),
                     [moment](table::CsvWriter& csv, const Job& job) { csv.time(moment(job)); },
                     says});
  if (!dated) return;
  name.remove_suffix(std::string_view("_s").size());
  columns.push_back(
      {std::string(name),
       [moment](table::CsvWriter& csv, const Job& job) { write_date(csv, moment(job)); }, says});
}

std::vector<OutColumn> columns_of(const Trace& trace, bool dated) {
  std::vector<OutColumn> columns;
  for (const FieldSpec& field : kFields) {
    if (field.written == Written::never) continue;
    if (Field(field) == "submit_s") {
      add_moment(columns, field.name, submitted, dated);
    } else if (Field(field) == "eligible_s") {
      if (trace.knows_eligible) add_moment(columns, field.name, eligible, dated);
    } else if (const auto* const time = std::get_if<Member<Time>>(&field.member)) {
      add_moment(
          columns, field.name, [time](const Job& job) { return time->of(job); }, dated);
    } else {
      columns.push_back(std::visit(
          [&](const auto& member) { return column_of(field, member, trace); }, field.member));
    }
  }
  std::erase_if(columns, [&](const OutColumn& column) {
    return column.name != "job_id" &&
           std::none_of(trace.jobs.begin(), trace.jobs.end(), column.says_something);
  });
  return columns;
}

/// Whole seconds, halves up.
std::int64_t whole_seconds(Duration length) {
  return std::chrono::floor<std::chrono::seconds>(length + 500ms).count();
}

int swf_status(JobState state) {
  switch (state) {
    case JobState::completed:
      return 1;
    case JobState::cancelled:
      return 5;
    case JobState::failed:
    case JobState::timeout:
    case JobState::node_fail:
    case JobState::preempted:
      return 0;
    default:
      return -1;
  }
}

/// Tells it once in some thousand rows.
void tell(const std::function<void(double)>& progress, std::size_t row, std::size_t rows) {
  constexpr std::size_t kSeldom = 4096;
  if (progress && row % kSeldom == 0) {
    progress(static_cast<double>(row) / static_cast<double>(rows));
  }
}

void write_columns(const Trace& trace, const std::vector<OutColumn>& columns,
                   table::OutputFile& out, const std::function<void(double)>& progress) {
  table::CsvWriter csv(out);
  for (const OutColumn& column : columns) csv.text(column.name);
  csv.end_row();
  std::size_t row = 0;
  for (const Job& job : trace.jobs) {
    for (const OutColumn& column : columns) column.write(csv, job);
    csv.end_row();
    tell(progress, ++row, trace.jobs.size());
  }
  csv.flush();
}

}  // namespace

void write_csv(const Trace& trace, table::OutputFile& out,
               const std::function<void(double)>& progress) {
  write_columns(trace, columns_of(trace, false), out, progress);
}

void write_dated_csv(const Trace& trace, table::OutputFile& out,
                     const std::function<void(double)>& progress) {
  write_columns(trace, columns_of(trace, true), out, progress);
}

void write_swf(const Trace& trace, table::OutputFile& out,
               const std::function<void(double)>& progress) {
  const auto& jobs = trace.jobs;
  const Time zero =
      jobs.empty() ? Time{} : std::chrono::floor<std::chrono::seconds>(jobs[0].request.submit);
  // Users, names and VCs are numbered as they come up.
  std::vector<int> users(trace.names.size(), -1), apps(users), queues(users), partitions(users);
  int num_users = 0, num_apps = 0, num_queues = 0, num_partitions = 0;
  std::string name_lines;
  std::vector<std::pair<JobKey, std::size_t>> numbers;
  const auto number = [](std::vector<int>& known, NameId id, int& count) {
    if (id == kNoName || known[index(id)] >= 0) return false;
    known[index(id)] = ++count;
    return true;
  };
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Request& request = jobs[i].request;
    number(users, request.user, num_users);
    number(apps, request.name, num_apps);
    if (number(queues, request.qos, num_queues)) {
      name_lines += fmt::format("; Queue: {} {}\n", num_queues, trace.names[request.qos]);
    }
    if (number(partitions, request.vc, num_partitions)) {
      name_lines += fmt::format("; Partition: {} {}\n", num_partitions, trace.names[request.vc]);
    }
    numbers.emplace_back(jobs[i].id, i + 1);
  }
  std::sort(numbers.begin(), numbers.end());
  const auto find = [&](JobKey key) -> std::int64_t {
    const auto found =
        std::lower_bound(numbers.begin(), numbers.end(), std::pair(key, std::size_t{0}));
    return found != numbers.end() && found->first == key ? static_cast<std::int64_t>(found->second)
                                                         : -1;
  };

  std::string machine;
  if (trace.machine.nodes > 0) machine += fmt::format("; MaxNodes: {}\n", trace.machine.nodes);
  if (trace.machine.gpus > 0) machine += fmt::format("; MaxProcs: {}\n", trace.machine.gpus);
  std::string text = fmt::format(
      "; Version: 2.2\n; Note: processors are GPUs; jobs, users and applications are numbered "
      "again\n"
      "; MaxJobs: {0}\n; MaxRecords: {0}\n; UnixStartTime: {1}\n{2}{3}",
      jobs.size(), zero.time_since_epoch() / 1s, machine, name_lines);
  constexpr std::size_t kBlock = std::size_t{1} << 18;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Request& request = jobs[i].request;
    const Outcome& outcome = jobs[i].outcome;
    const auto memory_kb = std::isnan(request.memory_gb) || request.gpus == 0
                               ? -1
                               : std::llround(request.memory_gb * 1024.0 * 1024 / request.gpus);
    fmt::format_to(
        std::back_inserter(text), "{} {} {} {} {} -1 -1 {} {} {} {} {} -1 {} {} {} {} -1\n", i + 1,
        whole_seconds(request.submit - zero),
        outcome.start == kNoTime
            ? -1
            : std::max<std::int64_t>(0, whole_seconds(outcome.start - request.submit)),
        whole_seconds(outcome.run), request.gpus, request.gpus,
        request.time_limit == kNoDuration ? -1 : whole_seconds(request.time_limit), memory_kb,
        swf_status(outcome.state), users[index(request.user)], apps[index(request.name)],
        queues[index(request.qos)], partitions[index(request.vc)],
        request.after == kNoJobKey ? -1 : find(request.after));
    if (text.size() > kBlock) {
      out.write(text);
      text.clear();
    }
    tell(progress, i + 1, jobs.size());
  }
  out.write(text);
}

Result<void> save_trace(const Trace& trace, const std::string& path, std::string format,
                        const std::function<void(double)>& progress) {
  if (format.empty()) {
    std::string_view name = path;
    for (const std::string_view packing : {".gz", ".zst"}) {
      if (name.ends_with(packing)) name.remove_suffix(packing.size());
    }
    format = name.ends_with(".swf") ? "swf" : "csv";
  }
  const auto write = format == "csv"     ? write_csv
                     : format == "dated" ? write_dated_csv
                     : format == "swf"   ? write_swf
                                         : nullptr;
  if (write == nullptr) {
    return fail(Code::usage,
                fmt::format("a trace is written as csv, dated or swf, not \"{}\"", format));
  }
  auto out = path == "-" ? Result<table::OutputFile>(table::OutputFile::standard_output())
                         : table::OutputFile::create(path);
  if (!out) return tl::unexpected(std::move(out.error()));
  write(trace, *out, progress);
  return out->commit();
}

}  // namespace almanac::trace
