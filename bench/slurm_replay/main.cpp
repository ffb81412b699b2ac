// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// slurm_replay prepare: a window of a job log, its time compressed, as a trace.
/// slurm_replay run: that trace on the Slurm of SLURM_CONF.
#include <fstream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slurm_replay/arrivals.h"
#include "slurm_replay/controller.h"
#include "slurm_replay/replay.h"
#include "text/datetime.h"
#include "trace/read.h"
#include "trace/write.h"

namespace almanac::replay {
namespace {

int complain(const Error& error) {
  fmt::print(stderr, "slurm_replay: {}\n", to_string(error));
  return 1;
}

int prepare(const Window& window, const std::string& out) {
  const auto arrivals = read_arrivals(window);
  if (!arrivals) return complain(arrivals.error());
  const auto saved = trace::save_trace(*arrivals, out, "csv");
  return saved ? 0 : complain(saved.error());
}

nlohmann::ordered_json to_json(const Report& report, const trace::Trace& trace) {
  double wait_s = 0;
  double jobs = 0;
  for (const trace::Job& job : trace.jobs) {
    if (job.outcome.start == kNoTime) continue;
    ++jobs;
    wait_s += seconds(job.outcome.start - job.request.submit);
  }
  std::string load;
  std::getline(std::ifstream("/proc/loadavg"), load);
  return {{"jobs", trace.jobs.size()},
          {"ran", jobs},
          {"mean_wait_s", jobs == 0 ? 0 : wait_s / jobs},
          {"refused", report.refused},
          {"never_started", report.never_started},
          {"held", report.held},
          {"ended_by_other", report.ended_by_other},
          {"ran_twice", report.ran_twice},
          {"forgotten", report.forgotten},
          {"silences", report.silences},
          {"submit_ms", report.submit_s * 1e3},
          {"look_ms", report.look_s * 1e3},
          {"end_ms", report.end_s * 1e3},
          {"load", load}};
}

int run(const std::string& arrivals, const std::string& out, const Options& options) {
  auto trace = trace::read_trace(arrivals, {.format = "almanac"});
  if (!trace) return complain(trace.error());
  Controller controller;
  const auto report = replay(*trace, controller, options);
  if (!report) return complain(report.error());
  const std::string summary = to_json(*report, *trace).dump();
  std::ofstream(out + ".json") << summary << '\n';
  fmt::print("{}\n", summary);
  const auto saved = trace::save_trace(*trace, out + ".csv", "csv");
  if (!saved) return complain(saved.error());
  return report->is_sound() ? 0 : 2;
}

/// For CLI11: what is wrong with it, or nothing.
std::string refuse_unless_date(const std::string& text) {
  return text::parse_datetime(text) ? "" : fmt::format("a date like 2020-06-04, not {}", text);
}

int main(int argc, char** argv) {
  CLI::App app("A job log replayed on a real Slurm");
  app.require_subcommand(1);

  CLI::App& first = *app.add_subcommand("prepare", "Write the part that is replayed as a trace");
  Window window;
  std::string from;
  std::string to;
  double longest_h = 24.0 * 30;
  std::string arrivals;
  bool exact = false;
  first.add_option("LOG", window.log)->required();
  first.add_option("OUT", arrivals, "A CSV file")->required();
  first.add_option("--from", from, "Submitted then or later")->check(refuse_unless_date);
  first.add_option("--to", to, "and before that")->check(refuse_unless_date);
  first.add_option("--hour", window.hour_s, "So many seconds take an hour's place")
      ->capture_default_str();
  first.add_option("--longest", longest_h, "Hours of the log; what runs longer is cut");
  first.add_flag("--exact-limits", exact, "Time limits tell how long each job will run");

  CLI::App& second =
      *app.add_subcommand("run", "Replay it; exits with 2 if a job did not run once");
  Options options{.partition = "all"};
  std::string trace;
  std::string out;
  second.add_option("TRACE", trace, "Of prepare")->required();
  second.add_option("OUT", out, "OUT.csv gets the jobs, OUT.json the counts")->required();
  second.add_option("--partition", options.partition)->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  if (second.parsed()) return run(trace, out, options);
  window.longest = Duration{static_cast<std::int64_t>(longest_h * 3'600'000)};
  window.limit = exact ? Limit::exact : Limit::usual;
  if (!from.empty()) window.from = *text::parse_datetime(from);
  if (!to.empty()) window.to = *text::parse_datetime(to);
  return prepare(window, arrivals);
}

}  // namespace
}  // namespace almanac::replay

int main(int argc, char** argv) { return almanac::replay::main(argc, argv); }
