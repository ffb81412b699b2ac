// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac efficiency: what jobs used of their allocations, by job or by user, from Slurm's
/// accounting or the service's measurements; which requests would have sufficed, and which jobs
/// break a norm.
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
#include "cli/progress.h"
#include "cli/service_use.h"
#include "cli/show_document.h"
#include "cli/tell_users.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "cli/wall_clock.h"
#include "report/document_directory.h"
#include "study/alert_rows.h"
#include "study/alerts.h"
#include "study/efficiency_document.h"
#include "study/efficiency_rows.h"
#include "study/letter.h"
#include "study/norms.h"
#include "study/read_job_use.h"
#include "study/right_size.h"
#include "table/stream.h"
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
  bool jobs = false;
  bool sizes = false;
  bool alerts = false;
  std::string norms;
  study::Prices prices;
  std::string out;
  std::string tell;
  std::string mail;
  std::string letter;
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

Result<study::Norms> norms_of(const EfficiencyOptions& options) {
  return options.norms.empty() ? Result<study::Norms>(study::Norms{})
                               : study::read_norms(options.norms);
}

/// Returns the template of the letters. Fails if it cannot be read or has unknown placeholders.
Result<std::string> letter_of(const EfficiencyOptions& options) {
  if (options.letter.empty()) return std::string(study::default_letter());
  auto text = table::read_file(options.letter);
  if (!text) return text;
  if (auto known = study::check_letter(*text, options.letter); !known) {
    return tl::unexpected(known.error());
  }
  return text;
}

/// Writes or passes on each user's text.
Result<int> send_letters(const EfficiencyOptions& options, const std::vector<JobUse>& jobs,
                         const std::vector<UserUse>& users, const std::vector<RightSize>& sizes) {
  const auto text = letter_of(options);
  if (!text) return tl::unexpected(text.error());
  const auto norms = norms_of(options);
  if (!norms) return tl::unexpected(norms.error());
  const std::vector<study::Alert> alerts = study::find_alerts(jobs, *norms);
  std::vector<UserLetter> letters;
  for (const UserUse& user : users) {
    letters.push_back({user.user, study::write_letter(*text, user,
                                                      {.jobs = jobs,
                                                       .sizes = sizes,
                                                       .alerts = alerts,
                                                       .norms = *norms,
                                                       .prices = options.prices})});
  }
  if (!options.tell.empty()) return tell_users(options.tell, letters);
  return write_letters(options.mail, letters);
}

Result<int> print_alerts(const EfficiencyOptions& options, const std::vector<JobUse>& jobs) {
  const auto norms = norms_of(options);
  if (!norms) return tl::unexpected(norms.error());
  const std::vector<study::Alert> alerts = study::find_alerts(jobs, *norms);
  if (alerts.empty() && options.list.explains()) {
    fmt::print("No user's jobs break a norm for {:g} GPU-hours or more (almanac help norms).\n",
               norms->gpu_hours);
    return kDone;
  }
  return options.list.print(study::alert_rows(alerts, *norms),
                            study::norms_in_words(alerts, *norms) + study::samples_in_words(jobs));
}

Result<int> efficiency(EfficiencyOptions options, const std::vector<std::string>& command) {
  if (const auto sorted = sort_words(options); !sorted) return tl::unexpected(sorted.error());
  if (!options.letter.empty() && options.tell.empty() && options.mail.empty()) {
    return fail(Code::usage, "--letter requires --mail or --tell");
  }
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
  if (!options.tell.empty() || !options.mail.empty()) {
    return send_letters(options, *jobs, users, sizes);
  }
  if (options.alerts) return print_alerts(options, *jobs);
  const ListOptions& list = options.list;
  if (options.sizes) {
    if (sizes.empty() && list.explains()) {
      fmt::print("No name has the five jobs needed for a recommendation that saves a quarter.\n");
      return kDone;
    }
    return list.print(study::right_size_rows(sizes, options.prices), study::kSizesExplained);
  }
  if (options.job.empty() && options.user.empty() && !options.jobs) {
    if (!users.empty()) {
      return list.print(study::user_use_rows(users, options.prices),
                        std::string(study::kUsersExplained) + study::unused_gpus_in_words(users) +
                            study::samples_in_words(*jobs) + study::doubts_in_words(*jobs));
    }
    if (!list.explains()) return list.print(study::user_use_rows(users, options.prices));
    fmt::print("No job ran for a minute or longer.\n{}", study::doubts_in_words(*jobs));
    return kDone;
  }
  study::sort_by_waste(*jobs);
  if (options.jobs || list.output != "table" || !list.explains()) {
    return list.print(study::job_use_rows(*jobs), study::samples_in_words(*jobs));
  }
  for (const JobUse& job : *jobs) {
    fmt::print("{}", study::use_in_words(job, sizes, colour_on_stdout()));
  }
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
  CLI::Option* const jobs = command.add_flag(
      "--jobs", options->jobs, "One row for each job, those with most idle GPU-hours first");
  CLI::Option* const sizes = command.add_flag("--sizes", options->sizes,
                                              "Recommend requests: cores, memory and time limit");
  CLI::Option* const alerts =
      command
          .add_flag(
              "--alerts", options->alerts,
              "Users whose jobs break a norm: unused GPUs, too many cores or too much memory per "
              "GPU, a GPU too strong, a time limit too long (almanac help norms)")
          ->excludes(jobs)
          ->excludes(sizes);
  jobs->excludes(sizes);
  CLI::Option* const norms =
      command
          .add_option("--norms", options->norms,
                      "TOML file with norms for --alerts and letters (default: almanac help norms)")
          ->type_name("FILE")
          ->group(heading(Group::input));
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
  CLI::Option* const tell =
      command
          .add_option("--tell", options->tell,
                      "Shell command to run for each user, with the user's letter on standard "
                      "input and the name in ALMANAC_USER")
          ->type_name("COMMAND")
          ->group(heading(Group::output));
  command
      .add_option("--mail", options->mail,
                  "Directory for a letter to each user, NAME.txt: their jobs, GPU-hours and what "
                  "to change")
      ->type_name("DIR")
      ->group(heading(Group::output))
      ->excludes(tell)
      ->excludes(jobs)
      ->excludes(sizes)
      ->excludes(alerts);
  tell->excludes(jobs)->excludes(sizes)->excludes(alerts);
  command
      .add_option("--letter", options->letter,
                  "Template of the letters, with {user}, {jobs}, {gpu_hours}, {idle_gpu_hours}, "
                  "{summary}, {alerts}, {requests} and {table}")
      ->type_name("FILE")
      ->group(heading(Group::output));
  options->service.add_to(command);
  options->list.add_to(command);
  add_example(command, "almanac efficiency 17");
  add_example(command, "almanac efficiency week.txt --user ann");
  add_example(command, "almanac efficiency week.txt --jobs --sort=-energy_kwh -o wide");
  add_example(command, "almanac efficiency week.txt --alerts");
  add_example(command, "almanac efficiency --sizes --core-hour 0.05");
  add_example(command,
              "almanac efficiency --since 7d --tell 'mail -s \"Your week\" \"$ALMANAC_USER\"'");
  options->list.on(program, command, [options, norms, &program]() -> Result<int> {
    const bool uses_norms = options->alerts || !options->tell.empty() || !options->mail.empty();
    if (norms->count() > 0 && !uses_norms) {
      return fail(Code::usage, "--norms requires --alerts, --mail or --tell");
    }
    return efficiency(*options, program.command_line);
  });
}

}  // namespace almanac::cli
