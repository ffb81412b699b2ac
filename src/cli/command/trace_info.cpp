// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac trace info`: summarizes a job log.
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/trace_options.h"
#include "text/datetime.h"
#include "text/duration.h"
#include "text/human.h"
#include "trace/format.h"
#include "trace/summary.h"

namespace almanac::cli {

void register_trace_info(Program& program);

namespace {

using Json = nlohmann::ordered_json;
using trace::HostUse;
using trace::JobState;
using trace::Spread;
using trace::Summary;

using text::grouped;

/// "12.5", "24,359".
std::string hours_in_words(double duration_s) {
  constexpr double kHour_s = 3600;
  constexpr double kMany = 1000;
  const double value = duration_s / kHour_s;
  return value < kMany ? fmt::format("{:.1f}", value) : grouped(std::llround(value));
}

std::string_view name_of(std::size_t state) {
  const auto name = to_string(static_cast<JobState>(state));
  return name.empty() ? "unknown" : name;
}

Json summary_json(const Spread& spread) {
  return {{"count", spread.count}, {"mean", spread.mean}, {"p50", spread.p50},
          {"p90", spread.p90},     {"p99", spread.p99},   {"max", spread.max}};
}

Json summary_json(const HostUse& use) {
  return {{"cpus", summary_json(use.cpus)},
          {"memory_gb", summary_json(use.memory_gb)},
          {"core_time_s", use.core_time_s}};
}

Json summary_json(const trace::Trace& trace, const Summary& summary) {
  Json states = Json::object();
  for (std::size_t i = 0; i < summary.states.size(); ++i) {
    if (summary.states[i] > 0) states[std::string(name_of(i))] = summary.states[i];
  }
  return {{"trace", trace.path},
          {"format", trace.format},
          {"sha256", trace.sha256},
          {"rows", trace.rows},
          {"dropped", trace.dropped},
          {"jobs", summary.jobs},
          {"gpu_jobs", summary.gpu_jobs},
          {"cpu_jobs", summary.jobs - summary.gpu_jobs},
          {"never_ran", summary.never_ran},
          {"time_zone", trace.time_zone.empty() ? Json() : Json(trace.time_zone)},
          {"users", summary.users},
          {"vcs", summary.vcs},
          {"first_submit_s", seconds(summary.first_submit)},
          {"last_submit_s", seconds(summary.last_submit)},
          {"span_s", seconds(summary.last_submit - summary.first_submit)},
          {"gpu_time_gpu_s", summary.gpu_time_gpu_s},
          {"run_s", summary_json(summary.run_s)},
          {"wait_s", summary_json(summary.wait_s)},
          {"wait_from", trace.knows_eligible ? "eligible" : "submission"},
          {"gpus", summary_json(summary.gpus)},
          {"gpu_hosts", summary_json(summary.gpu_hosts)},
          {"cpu_run_s", summary_json(summary.cpu_run_s)},
          {"cpu_hosts", summary_json(summary.cpu_hosts)},
          {"states", states},
          {"notes", trace.notes}};
}

/// " (it has no column Eligible)" of a log in `format` that does not say when jobs became eligible;
/// "" where no log in that format can.
std::string missing_column(const std::string& format) {
  if (format == "csv") return " (its column map has no eligible_s)";
  const auto known = trace::formats().find(format);
  if (!known || (*known)->eligible_column.empty()) return {};
  return fmt::format(" (it has no column {})", (*known)->eligible_column);
}

/// "00:03:24", rounded to seconds.
std::string length(double secs) {
  return text::format_duration(Duration(std::llround(secs) * 1000));
}

void say_lengths(const char* what, const Spread& spread) {
  if (spread.count == 0) return;
  fmt::print("{:14} mean {}, median {}, p90 {}, p99 {}, longest {}\n", what, length(spread.mean),
             length(spread.p50), length(spread.p90), length(spread.p99), length(spread.max));
}

void say_amounts(const char* what, const Spread& spread) {
  if (spread.count == 0) return;
  fmt::print("{:14} mean {:.3f}, median {:g}, p99 {:g}, most {:g}\n", what, spread.mean, spread.p50,
             spread.p99, spread.max);
}

void say_hosts(const HostUse& use) {
  if (use.cpus.count > 0)
    fmt::print("{:14} {} core-hours\n", "core time", hours_in_words(use.core_time_s));
  say_amounts("cores a job", use.cpus);
  say_amounts("GB a job", use.memory_gb);
}

void say(const trace::Trace& trace, const Summary& summary) {
  fmt::print("{:14} {}\n", "trace", trace.path);
  fmt::print("{:14} {}\n", "format", trace.format);
  fmt::print("{:14} {}\n", "sha256", trace.sha256);
  fmt::print("{:14} {}: {} on GPUs, {} CPU-only\n", "jobs", grouped(summary.jobs),
             grouped(summary.gpu_jobs), grouped(summary.jobs - summary.gpu_jobs));
  if (summary.never_ran > 0) {
    fmt::print(
        "{:14} {}: cancelled before they ran, or pending when the log was taken; not in the "
        "averages below\n",
        "never ran", grouped(summary.never_ran));
  }
  // Times from a zero of the log's own are no dates.
  constexpr Time kFirstDate{Duration(1LL * 365 * 24 * 3600 * 1000)};
  const auto point = [&](Time time) {
    return summary.first_submit < kFirstDate ? fmt::format("{} s", seconds(time))
                                             : text::format_datetime(time);
  };
  fmt::print("{:14} {} to {} ({})\n", "submitted", point(summary.first_submit),
             point(summary.last_submit),
             length(seconds(summary.last_submit - summary.first_submit)));
  if (trace.local_times) {
    fmt::print("{:14} {}\n", "time zone",
               trace.time_zone.empty() ? "not in the log, read as UTC (use --time-zone to change)"
                                       : trace.time_zone);
  }
  if (summary.users > 0) fmt::print("{:14} {}\n", "users", grouped(summary.users));
  if (summary.vcs > 0) fmt::print("{:14} {}\n", "VCs", grouped(summary.vcs));
  if (summary.gpu_jobs > 0) {
    fmt::print("{:14} {} GPU-hours of run time\n", "GPU time",
               hours_in_words(summary.gpu_time_gpu_s));
    say_amounts("GPUs a job", summary.gpus);
    say_hosts(summary.gpu_hosts);
  }
  say_lengths("run", summary.run_s);
  say_lengths("wait", summary.wait_s);
  if (summary.wait_s.count > 0 && !trace.knows_eligible) {
    fmt::print(
        "{:14} since submission: the log does not record eligible times{}, so waits may include "
        "dependencies, begin times and holds\n",
        "", missing_column(trace.format));
  }
  if (summary.jobs > summary.gpu_jobs) {
    fmt::print("{:14} {}\n", "CPU jobs", grouped(summary.jobs - summary.gpu_jobs));
    say_hosts(summary.cpu_hosts);
    say_lengths("run", summary.cpu_run_s);
  }
  std::string states;
  for (std::size_t i = 0; i < summary.states.size(); ++i) {
    if (summary.states[i] == 0) continue;
    if (!states.empty()) states += ", ";
    states += fmt::format(
        "{} {} ({:.1f} %)", name_of(i), grouped(summary.states[i]),
        100.0 * static_cast<double>(summary.states[i]) / static_cast<double>(summary.jobs));
  }
  fmt::print("{:14} {}\n", "states", states);
}

}  // namespace

void register_trace_info(Program& program) {
  struct Arguments {
    TraceOptions trace;
    std::string output = "table";
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App& command =
      *program.noun(Purpose::understand, "trace", "Read, check, convert and generate job logs")
           .add_subcommand("info", "Summarize a job log");
  arguments->trace.add_to(command);
  add_output_option(command, arguments->output);
  add_example(command, "almanac trace info log.csv");
  program.on(command, [arguments]() -> Result<int> {
    const auto trace = arguments->trace.load();
    if (!trace) return tl::unexpected(trace.error());
    const Summary summary = summarize(*trace);
    if (arguments->output == "json") {
      const Json json = summary_json(*trace, summary);
      fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
    } else {
      say(*trace, summary);
    }
    return kDone;
  });
}

}  // namespace almanac::cli
