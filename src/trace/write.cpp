// SPDX-License-Identifier: Apache-2.0
#include "trace/write.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "table/csv_writer.h"
#include "text/datetime.h"

namespace almanac::trace {
namespace {

/// A column of our CSV.
struct OutColumn {
  const char* name;
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

std::vector<OutColumn> columns_of(const Trace& trace, bool dated) {
  using Writer = table::CsvWriter;
  std::vector<OutColumn> columns;
  const auto always = [](const Job&) { return true; };
  const auto add = [&](const char* name, auto write, auto says) {
    columns.push_back(OutColumn{name, std::move(write), std::move(says)});
  };
  const auto add_name = [&](const char* name, NameId Request::*field) {
    add(
        name,
        [&trace, field](Writer& csv, const Job& job) { csv.text(trace.names[job.request.*field]); },
        [field](const Job& job) { return job.request.*field != kNoName; });
  };
  const auto add_length = [&](const char* name, Duration Request::*field) {
    add(
        name, [field](Writer& csv, const Job& job) { csv.duration(job.request.*field); },
        [field](const Job& job) { return job.request.*field != kNoDuration; });
  };
  const auto add_moment = [&](const char* name, const char* date, auto moment) {
    const auto says = [moment](const Job& job) { return moment(job) != kNoTime; };
    add(
        name, [moment](Writer& csv, const Job& job) { csv.time(moment(job)); }, says);
    if (!dated) return;
    add(
        date, [moment](Writer& csv, const Job& job) { write_date(csv, moment(job)); }, says);
  };
  const auto add_time = [&](const char* name, const char* date, Time Outcome::*field) {
    add_moment(name, date, [field](const Job& job) { return job.outcome.*field; });
  };
  const auto add_amount = [&](const char* name, float Request::*field) {
    add(
        name, [field](Writer& csv, const Job& job) { csv.decimal(job.request.*field); },
        [field](const Job& job) { return !std::isnan(job.request.*field); });
  };
  const auto add_outcome = [&](const char* name, float Outcome::*field) {
    add(
        name,
        [field](Writer& csv, const Job& job) {
          const float value = job.outcome.*field;
          std::isinf(value) ? csv.text("inf") : csv.decimal(value);
        },
        [field](const Job& job) { return !std::isnan(job.outcome.*field); });
  };
  const auto add_count = [&](const char* name, auto Request::*field) {
    add(
        name,
        [field](Writer& csv, const Job& job) {
          job.request.*field > 0 ? csv.whole(job.request.*field) : csv.missing();
        },
        [field](const Job& job) { return job.request.*field > 0; });
  };
  const auto add_asked_time = [&](const char* name, const char* date, Time Request::*field) {
    add_moment(name, date, [field](const Job& job) { return job.request.*field; });
  };
  const auto write_key = [&trace](Writer& csv, JobKey key) {
    // Most ids are numbers, and those need no string.
    const auto bits = static_cast<std::uint64_t>(key);
    if (bits >> 63 == 0) {
      csv.whole(bits);
    } else {
      csv.text(trace.id(key));
    }
  };

  add(
      "job_id", [=](Writer& csv, const Job& job) { write_key(csv, job.id); }, always);
  add_moment("submit_s", "submit", [](const Job& job) {
    return job.request.submitted != kNoTime ? job.request.submitted : job.request.submit;
  });
  if (trace.knows_eligible) add_asked_time("eligible_s", "eligible", &Request::submit);
  add(
      "run_s", [](Writer& csv, const Job& job) { csv.duration(job.outcome.run); }, always);
  add(
      "gpus", [](Writer& csv, const Job& job) { csv.whole(job.request.gpus); }, always);
  add(
      "span_s", [](Writer& csv, const Job& job) { csv.duration(job.outcome.span); },
      [](const Job& job) { return job.outcome.span != kNoDuration; });
  add_name("name", &Request::name);
  add_name("user", &Request::user);
  add_name("vc", &Request::vc);
  add_name("kind", &Request::kind);
  add_name("gpu_type", &Request::gpu_type);
  add(
      "gpu_share", [](Writer& csv, const Job& job) { csv.decimal(job.request.gpu_share); },
      [](const Job& job) { return job.request.gpu_share < 1; });
  add_name("gpu_profile", &Request::gpu_profile);
  add_amount("gpu_memory_gb", &Request::gpu_memory_gb);
  add_amount("cpus", &Request::cpus);
  add_amount("memory_gb", &Request::memory_gb);
  add_count("nodes", &Request::nodes);
  add(
      "node_list",
      [&trace](Writer& csv, const Job& job) { csv.text(trace.names[job.outcome.node_list]); },
      [](const Job& job) { return job.outcome.node_list != kNoName; });
  add_count("shards", &Request::shards);
  add_count("mps", &Request::mps);
  add_length("time_limit_s", &Request::time_limit);
  add_length("predicted_s", &Request::predicted);
  add_time("start_s", "start", &Outcome::start);
  add_time("end_s", "end", &Outcome::end);
  add(
      "state", [](Writer& csv, const Job& job) { csv.text(to_string(job.outcome.state)); },
      [](const Job& job) { return job.outcome.state != JobState::unknown; });
  add(
      "attempts",
      [](Writer& csv, const Job& job) {
        job.outcome.attempts > 0 ? csv.whole(job.outcome.attempts) : csv.missing();
      },
      [](const Job& job) { return job.outcome.attempts > 0; });
  add_name("model", &Request::model);
  add_count("batch", &Request::batch);
  add_count("steps", &Request::steps);
  add_count("max_gpus", &Request::max_gpus);
  add_count("min_gpus", &Request::min_gpus);
  add_name("alternatives", &Request::alternatives);
  add_name("group", &Request::group);
  add(
      "metric",
      [&trace](Writer& csv, const Job& job) { csv.text(trace.names[job.outcome.metric]); },
      [](const Job& job) { return job.outcome.metric != kNoName; });
  add_asked_time("deadline_s", "deadline", &Request::deadline);
  add_asked_time("worthless_at_s", "worthless_at", &Request::worthless_at);
  add_amount("value", &Request::value);
  add_amount("restart_s", &Request::restart_s);
  add_amount("checkpoint_s", &Request::checkpoint_s);
  add_name("qos", &Request::qos);
  add(
      "after",
      [=](Writer& csv, const Job& job) {
        job.request.after == kNoJobKey ? void(csv.missing()) : write_key(csv, job.request.after);
      },
      [](const Job& job) { return job.request.after != kNoJobKey; });
  add_outcome("reference_cpus", &Outcome::reference_cpus);
  add_outcome("reference_memory_gb", &Outcome::reference_memory_gb);
  add(
      "reference_profile",
      [&trace](Writer& csv, const Job& job) {
        csv.text(trace.names[job.outcome.reference_profile]);
      },
      [](const Job& job) { return job.outcome.reference_profile != kNoName; });
  add_outcome("bandwidth_gbs", &Outcome::bandwidth_gbs);
  add_outcome("step_s", &Outcome::step_s);
  add_outcome("network_s", &Outcome::network_s);
  add_outcome("network_gbps", &Outcome::network_gbps);
  add_name("data_set", &Request::data_set);
  add_amount("data_gb", &Request::data_gb);
  add_outcome("read_gbs", &Outcome::read_gbs);

  std::erase_if(columns, [&](const OutColumn& column) {
    return column.name != std::string_view("job_id") &&
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
                fmt::format("a trace is written as csv, dated or swf: \"{}\"", format));
  }
  auto out = path == "-" ? Result<table::OutputFile>(table::OutputFile::standard_output())
                         : table::OutputFile::create(path);
  if (!out) return tl::unexpected(std::move(out.error()));
  write(trace, *out, progress);
  return out->commit();
}

}  // namespace almanac::trace
