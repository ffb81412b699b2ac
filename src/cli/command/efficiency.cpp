// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac efficiency: what jobs used of their allocations, by job or by user, from Slurm's
/// accounting or the service's measurements; and which requests would have sufficed.
#include "study/efficiency.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/service_use.h"
#include "cli/show_document.h"
#include "cli/tell_users.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "cli/wall_clock.h"
#include "report/document_directory.h"
#include "study/efficiency_document.h"
#include "study/efficiency_rows.h"
#include "study/read_job_use.h"
#include "study/right_size.h"
#include "text/duration.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using study::JobUse;
using study::RightSize;
using study::UserUse;

struct EfficiencyOptions {
  std::vector<std::string> what;
  ServiceOptions service;
  std::string user;
  std::string since;
  bool sizes = false;
  study::Prices prices;
  std::string out;
  std::string tell;
  bool lenient = false;
  ListOptions list;
  // Of `what`.
  std::string log;
  std::string job;
};

/// A word that is a file or "-" is the log, any other a job.
Result<void> sort_words(EfficiencyOptions& options) {
  for (const std::string& word : options.what) {
    std::error_code unknown;
    const bool is_log = word == "-" || std::filesystem::exists(word, unknown);
    std::string& place = is_log ? options.log : options.job;
    if (!place.empty()) {
      return fail(
          Code::usage,
          fmt::format("give at most one log and one job, found \"{}\" and \"{}\"", place, word));
    }
    place = word;
  }
  const bool is_number = !options.job.empty() && options.job[0] >= '0' && options.job[0] <= '9';
  if (!options.job.empty() && !is_number) {
    return fail(Code::usage, fmt::format("\"{}\" is neither a file nor a job id", options.job));
  }
  return {};
}

std::string name_of_log(const EfficiencyOptions& options) {
  if (options.log.empty()) return "the service";
  return options.log == "-" ? trace::kStandardInput : options.log;
}

/// Whether `id` is the job that was asked for, or a part of it: a task of an array, a part of a
/// heterogeneous job, a later job that got the same id.
bool is_asked(const std::string& id, const std::string& asked) {
  if (!id.starts_with(asked)) return false;
  return id.size() == asked.size() ||
         std::string_view("_+#").find(id[asked.size()]) != std::string_view::npos;
}

/// Fails with usage for a job that the log does not have, or that never ran.
Result<void> check_job(const EfficiencyOptions& options, const study::JobUseLog& log) {
  if (options.job.empty()) return {};
  const auto is_it = [&](const std::string& id) { return is_asked(id, options.job); };
  if (std::any_of(log.jobs.begin(), log.jobs.end(),
                  [&](const JobUse& job) { return is_it(job.id); })) {
    return {};
  }
  const Where where{.file = name_of_log(options)};
  if (std::any_of(log.never_ran.begin(), log.never_ran.end(), is_it)) {
    return fail(Code::usage, fmt::format("job {} never ran", options.job), where);
  }
  if (log.jobs.empty()) {
    return fail(Code::usage, fmt::format("unknown job {}; no job of the log ran", options.job),
                where);
  }
  return fail(
      Code::usage,
      fmt::format("unknown job {}; the {} that ran are {} to {}", options.job,
                  text::counted(log.jobs.size(), "job"), log.jobs.front().id, log.jobs.back().id),
      where);
}

Result<std::vector<JobUse>> load(const EfficiencyOptions& options) {
  const Time now = wall_clock();
  std::optional<Time> since;
  if (!options.since.empty()) {
    // The times of a log are those of its cluster's wall, whatever zone that is in.
    auto parsed = parse_time_option("--since", options.since);
    if (options.log.empty() || !parsed) parsed = parse_since("--since", options.since, now);
    if (!parsed) return tl::unexpected(parsed.error());
    since = *parsed;
  }
  if (options.log.empty()) {
    if (!options.job.empty()) return use_of_job(options.service, options.job);
    return use_of_jobs(options.service, since.value_or(now - 7 * 24h), options.user);
  }
  auto log = study::read_job_use(options.log, options.lenient);
  if (!log) return tl::unexpected(std::move(log.error()));
  for (const std::string& text : log->notes) note(name_of_log(options) + ": " + text);
  if (auto known = check_job(options, *log); !known) return tl::unexpected(known.error());
  std::vector<JobUse>& jobs = log->jobs;
  if (since) std::erase_if(jobs, [&](const JobUse& job) { return job.submit < *since; });
  if (!options.user.empty()) {
    std::erase_if(jobs, [&](const JobUse& job) { return job.user != options.user; });
  }
  return std::move(jobs);
}

Result<int> efficiency(EfficiencyOptions options, const std::vector<std::string>& command) {
  if (const auto sorted = sort_words(options); !sorted) return tl::unexpected(sorted.error());
  if (!options.out.empty()) {
    const auto opened = report::open_document_directory(options.out, "study");
    if (!opened) return tl::unexpected(opened.error());
  }
  auto jobs = load(options);
  if (!jobs) return tl::unexpected(jobs.error());
  const std::vector<RightSize> sizes = study::right_sizes(*jobs);
  if (!options.job.empty()) {
    // A job array is all its tasks.
    std::erase_if(*jobs, [&](const JobUse& job) { return !is_asked(job.id, options.job); });
  }
  if (jobs->empty()) {
    return fail(Code::usage, "no job matches", {.file = name_of_log(options)});
  }
  const std::vector<UserUse> users = study::by_user(*jobs);
  if (!options.out.empty()) {
    figure::Document document = study::efficiency_document(*jobs, options.prices);
    document.title = "Allocated and used resources";
    document.provenance.trace = options.log;
    document.provenance.version = ALMANAC_VERSION;
    document.provenance.command = fmt::format("{}", fmt::join(command, " "));
    const auto written = report::write_document(options.out, document);
    if (!written) return tl::unexpected(written.error());
    note_report(options.out);
  }
  if (!options.tell.empty()) {
    std::vector<UserLetter> letters;
    for (const UserUse& user : users) {
      letters.push_back({user.user, study::user_use_in_words(user, *jobs, sizes, options.prices)});
    }
    return tell_users(options.tell, letters);
  }
  const ListOptions& list = options.list;
  if (options.sizes) {
    if (sizes.empty() && list.explains()) {
      fmt::print("No name has the five jobs needed for a recommendation that saves a quarter.\n");
      return kDone;
    }
    return list.print(study::right_size_rows(sizes, options.prices), study::kSizesExplained);
  }
  if (options.job.empty() && options.user.empty()) {
    if (!users.empty()) {
      return list.print(study::user_use_rows(users, options.prices),
                        std::string(study::kUsersExplained) + study::doubts_in_words(*jobs));
    }
    if (!list.explains()) return list.print(study::user_use_rows(users, options.prices));
    fmt::print("No job ran for a minute or longer.\n{}", study::doubts_in_words(*jobs));
    return kDone;
  }
  if (list.output != "table" || !list.explains()) return list.print(study::job_use_rows(*jobs));
  for (const JobUse& job : *jobs) fmt::print("{}", study::use_in_words(job, sizes));
  return kDone;
}

}  // namespace

void register_efficiency(Program& program) {
  CLI::App& command = program.command(Purpose::understand, "efficiency",
                                      "Report allocated and used CPUs, memory, GPUs and time");
  const auto options = std::make_shared<EfficiencyOptions>();
  command
      .add_option("LOG|JOB", options->what,
                  "LOG: output of sacct, - for standard input (default: ask the service). "
                  "JOB: one job, or all tasks of an array")
      ->expected(0, -1)
      ->option_text("[LOG] [JOB]");
  command
      .add_option("--user", options->user,
                  "Each job of this user (default: all users, one row each)")
      ->type_name("NAME")
      ->group(heading(Group::input));
  command
      .add_option("--since", options->since,
                  "Jobs of a log submitted since then, or of the service ended since then: 7d, "
                  "2026-11-22 (default for the service: 7d)")
      ->type_name("TIME")
      ->group(heading(Group::input));
  command.add_flag("--lenient", options->lenient, "Skip invalid rows of the log and report them")
      ->group(heading(Group::input));
  command.add_flag("--sizes", options->sizes, "Recommend requests: cores, memory and time limit");
  command.add_option("--gpu-hour", options->prices.gpu_hour, "Price of a GPU-hour")
      ->type_name("PRICE")
      ->check(number(0));
  command.add_option("--core-hour", options->prices.core_hour, "Price of a core-hour")
      ->type_name("PRICE")
      ->check(number(0));
  command.add_option("--gb-hour", options->prices.gb_hour, "Price of a GB of memory for an hour")
      ->type_name("PRICE")
      ->check(number(0));
  command.add_option("--out", options->out, "Directory for report.html and its tables")
      ->type_name("DIR")
      ->group(heading(Group::output));
  command
      .add_option("--tell", options->tell,
                  "Shell command to run for each user, with the user's summary on standard input "
                  "and the name in ALMANAC_USER")
      ->type_name("COMMAND")
      ->group(heading(Group::output));
  options->service.add_to(command);
  options->list.add_to(command);
  add_example(command, "almanac efficiency 17");
  add_example(command, "almanac efficiency week.txt --user ann");
  add_example(command, "almanac efficiency --sizes --core-hour 0.05");
  add_example(command,
              "almanac efficiency --since 7d --tell 'mail -s \"Your week\" \"$ALMANAC_USER\"'");
  options->list.on(program, command,
                   [options, &program] { return efficiency(*options, program.command_line); });
}

}  // namespace almanac::cli
