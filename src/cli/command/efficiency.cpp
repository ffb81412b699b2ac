// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac efficiency: what jobs of a Slurm used of what they held, one by one or user by user.
#include "study/efficiency.h"

#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/columns.h"
#include "cli/program.h"
#include "cli/trace_options.h"
#include "text/duration.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using study::JobUse;
using study::UserUse;
using Json = nlohmann::ordered_json;

struct EfficiencyOptions {
  std::string log;
  std::string job;
  std::string user;
  std::string since;
  std::string output = "table";
};

std::string percent_of(double value) { return text::human_share(value); }

std::string tenths(double value) { return std::isnan(value) ? "-" : fmt::format("{:.1f}", value); }

void print_job(const JobUse& job) {
  fmt::print("job {} of {}{}, {}\n", job.id, job.user,
             job.name.empty() ? "" : fmt::format(" ({})", job.name),
             job.state.empty() ? "state not told" : job.state);
  const auto line = [](const char* what, const std::string& text) {
    fmt::print("  {:8} {}\n", what, text);
  };
  line("cores", std::isnan(job.cores_used)
                    ? fmt::format("{:g} held, use not recorded", job.cores)
                    : fmt::format("{:.1f} used of {:g} on average ({})", job.cores_used, job.cores,
                                  percent_of(job.core_share())));
  line("memory", std::isnan(job.memory_share())
                     ? "use not recorded: the log needs MaxRSS of the job's steps"
                     : fmt::format("{:.1f} GB used at most of {:.1f} GB ({})", job.memory_used_gb,
                                   job.memory_gb, percent_of(job.memory_share())));
  if (job.gpus > 0) {
    line("GPUs", std::isnan(job.gpu_use)
                     ? fmt::format("{:g} held, use not recorded (gres/gpuutil in "
                                   "AccountingStorageTRES)",
                                   job.gpus)
                     : fmt::format("{:g} held, computing {} of the time", job.gpus,
                                   percent_of(job.gpu_use)));
  }
  line("time", fmt::format("ran {}{}", text::format_duration(job.elapsed),
                           job.limit == kNoDuration
                               ? ", no limit"
                               : fmt::format(" of {} ({})", text::format_duration(job.limit),
                                             percent_of(job.time_share()))));
}

void print_users(const std::vector<UserUse>& users) {
  std::vector<std::vector<std::string>> rows;
  for (const UserUse& user : users) {
    const auto unused = [](double part, double whole) {
      return whole > 0 ? percent_of(part / whole) : std::string("-");
    };
    rows.push_back({user.user, text::grouped(user.jobs), tenths(user.gpu_hours),
                    unused(user.gpu_hours_unused, user.gpu_hours_known), tenths(user.core_hours),
                    unused(user.core_hours_unused, user.core_hours), percent_of(user.memory_share),
                    percent_of(user.time_share)});
  }
  print_columns({{"user"},
                 {"jobs", true},
                 {"GPU-hours", true},
                 {"GPUs idle", true},
                 {"core-hours", true},
                 {"cores idle", true},
                 {"memory used", true},
                 {"limit used", true}},
                rows);
  fmt::print(
      "Jobs of a minute or longer. Idle: the part of what was held that did not compute, of jobs "
      "that tell; - = none does.\nMemory used, limit used: medians over the jobs.\n");
}

/// JSON has no NaN.
Json or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json as_json(const JobUse& job) {
  return {{"job_id", job.id},
          {"name", job.name},
          {"user", job.user},
          {"state", job.state},
          {"run_s", seconds(job.elapsed)},
          {"time_limit_s", job.limit == kNoDuration ? Json() : Json(seconds(job.limit))},
          {"cpus", job.cores},
          {"cpus_used", or_null(job.cores_used)},
          {"memory_gb", or_null(job.memory_gb)},
          {"memory_used_gb", or_null(job.memory_used_gb)},
          {"gpus", job.gpus},
          {"gpu_use", or_null(job.gpu_use)}};
}

Json as_json(const UserUse& user) {
  return {{"user", user.user},
          {"jobs", user.jobs},
          {"gpu_hours", user.gpu_hours},
          {"gpu_hours_known", user.gpu_hours_known},
          {"gpu_hours_unused", user.gpu_hours_unused},
          {"core_hours", user.core_hours},
          {"core_hours_unused", user.core_hours_unused},
          {"memory_share_p50", or_null(user.memory_share)},
          {"time_share_p50", or_null(user.time_share)}};
}

template <class List, class Print>
void print_list(const List& list, const std::string& output, Print print) {
  if (output != "json") return print(list);
  Json all = Json::array();
  for (const auto& each : list) all.push_back(as_json(each));
  fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
}

Result<int> efficiency(const EfficiencyOptions& options) {
  auto jobs = study::read_job_use(options.log);
  if (!jobs) return tl::unexpected(jobs.error());
  if (!options.since.empty()) {
    const auto since = parse_time_option("--since", options.since);
    if (!since) return tl::unexpected(since.error());
    std::erase_if(*jobs, [&](const JobUse& job) { return job.submit < *since; });
  }
  if (!options.user.empty()) {
    std::erase_if(*jobs, [&](const JobUse& job) { return job.user != options.user; });
  }
  if (!options.job.empty()) {
    // A job array is all its tasks.
    std::erase_if(*jobs, [&](const JobUse& job) {
      return job.id != options.job && !job.id.starts_with(options.job + "_");
    });
  }
  if (jobs->empty()) return fail(Code::usage, "no job that ran is left", {.file = options.log});
  if (!options.job.empty() || !options.user.empty()) {
    print_list(*jobs, options.output, [](const std::vector<JobUse>& all) {
      for (const JobUse& job : all) print_job(job);
    });
  } else {
    print_list(study::by_user(*jobs), options.output, print_users);
  }
  return kDone;
}

}  // namespace

void register_efficiency(Program& program) {
  CLI::App& command =
      program.command(Purpose::understand, "efficiency",
                      "Say what jobs used of the cores, memory, GPUs and time that they held");
  const auto options = std::make_shared<EfficiencyOptions>();
  command
      .add_option("LOG", options->log,
                  fmt::format("Text of {}, - for standard input", study::kUseCommand))
      ->required();
  command.add_option("JOB", options->job, "Only this job, or all tasks of this array");
  command
      .add_option("--user", options->user, "Each job of this user; default: all users, summed up")
      ->type_name("NAME");
  command.add_option("--since", options->since, "Jobs submitted at this time or later")
      ->type_name("TIME");
  add_output_option(command, options->output);
  add_example(command, "almanac efficiency week.txt");
  add_example(command, "almanac efficiency week.txt --user ann");
  add_example(command, "almanac efficiency week.txt 4711");
  program.on(command, [options] { return efficiency(*options); });
}

}  // namespace almanac::cli
