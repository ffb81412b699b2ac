// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac efficiency: what jobs used of what they held, one by one or user by user, by a Slurm's
/// accounting or as the service measured it; and what they could ask instead.
#include "study/efficiency.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/service_use.h"
#include "cli/show_document.h"
#include "cli/tell_users.h"
#include "cli/trace_options.h"
#include "cli/wall_clock.h"
#include "report/document_directory.h"
#include "study/efficiency_document.h"
#include "study/read_job_use.h"
#include "study/right_size.h"
#include "text/duration.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using figure::Cell;
using figure::Tier;
using study::JobUse;
using study::UserUse;

using study::RightSize;

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

std::string percent_of(double value) { return text::human_share(value); }

std::string tenths(double value) { return std::isnan(value) ? "-" : fmt::format("{:.1f}", value); }

/// "4 cores, 12 GB, 03:45:00".
std::string enough_words(const RightSize& size) {
  std::vector<std::string> words;
  if (!std::isnan(size.enough_cores)) {
    words.push_back(fmt::format("{:g} of {:g} cores", size.enough_cores, size.cores));
  }
  if (!std::isnan(size.enough_memory_gb)) {
    words.push_back(fmt::format("{:g} of {:g} GB", size.enough_memory_gb, size.memory_gb));
  }
  if (size.enough_limit != kNoDuration) {
    words.push_back(fmt::format("a limit of {} for {}", text::format_duration(size.enough_limit),
                                text::format_duration(size.limit)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

constexpr const char* kMoreThanHeld =
    ": more than the job held, so it was not confined to that, or the accounting is wrong";

std::string use_in_words(const JobUse& job, const std::vector<RightSize>& sizes) {
  std::string made = fmt::format("job {} of {}{}, {}\n", job.id, job.user,
                                 job.name.empty() ? "" : fmt::format(" ({})", job.name),
                                 job.state.empty() ? "state not told" : job.state);
  const auto line = [&](const char* what, const std::string& text) {
    made += fmt::format("  {:8} {}\n", what, text);
  };
  const std::string cores = std::isnan(job.cores) ? "" : fmt::format("{:g}", job.cores);
  if (std::isnan(job.cores_used)) {
    line("cores", (cores.empty() ? "none asked" : cores + " held") + ", use not recorded");
  } else if (cores.empty()) {
    line("cores", fmt::format("{:.1f} used on average, none asked", job.cores_used));
  } else {
    line("cores",
         fmt::format("{:.1f} used of {} on average ({}{})", job.cores_used, cores,
                     percent_of(job.core_share()), job.used_more_cores() ? kMoreThanHeld : ""));
  }
  if (!std::isnan(job.memory_share())) {
    line("memory", fmt::format("{:.1f} GB used at most of {:.1f} GB ({}{})", job.memory_used_gb,
                               job.memory_gb, percent_of(job.memory_share()),
                               job.used_more_memory() ? kMoreThanHeld : ""));
  } else if (!std::isnan(job.memory_used_gb)) {
    line("memory", fmt::format("{:.1f} GB used at most, none asked", job.memory_used_gb));
  } else {
    line("memory", "use not recorded (of a Slurm: MaxRSS of the job's steps)");
  }
  if (job.gpus > 0) {
    line("GPUs", std::isnan(job.gpu_use)
                     ? fmt::format("{:g} held, use not recorded (of a Slurm: gres/gpuutil in "
                                   "AccountingStorageTRES)",
                                   job.gpus)
                     : fmt::format("{:g} held, computing {} of the time", job.gpus,
                                   percent_of(job.gpu_use)));
  }
  const std::string longest =
      job.longest == Duration{0}
          ? ""
          : fmt::format(" in several runs, the longest {}", text::format_duration(job.longest));
  line("time", fmt::format("ran {}{}{}", text::format_duration(job.elapsed), longest,
                           job.limit == kNoDuration
                               ? ", no limit"
                               : fmt::format(" of {} ({})", text::format_duration(job.limit),
                                             percent_of(job.time_share()))));
  for (const RightSize& size : sizes) {
    if (size.user != job.user || size.name != job.name) continue;
    line("enough", fmt::format("{}, by {} of that name", enough_words(size),
                               text::counted(static_cast<std::uint64_t>(size.jobs), "job")));
  }
  return made;
}

figure::Listing rows_of(const std::vector<UserUse>& users, const study::Prices& prices) {
  figure::Rows rows(users);
  const auto add_hours = [&](const char* name, const char* label, double UserUse::*of) -> auto& {
    return rows.add(name, label, of, figure::Decimals{1});
  };
  const auto add_unused = [&](const char* name, const char* label, double UserUse::*of,
                              double UserUse::*all) {
    rows.add(name, label, [=](const UserUse& user) {
      return Cell(user.*of, user.*all > 0 ? percent_of(user.*of / user.*all) : "-");
    });
  };
  const auto add_share = [&](const char* name, const char* label, double UserUse::*of) {
    rows.add(Tier::detail, name, label, of, percent_of);
  };
  rows.add("user", &UserUse::user);
  rows.add("jobs", &UserUse::jobs, text::grouped);
  add_hours("gpu_hours", "GPU-hours", &UserUse::gpu_hours);
  add_hours("gpu_hours_known", "GPU-hours known", &UserUse::gpu_hours_known).data();
  add_unused("gpu_hours_unused", "GPUs idle", &UserUse::gpu_hours_unused,
             &UserUse::gpu_hours_known);
  add_hours("core_hours", "core-hours", &UserUse::core_hours);
  add_unused("core_hours_unused", "cores idle", &UserUse::core_hours_unused, &UserUse::core_hours);
  add_hours("gb_hours", "GB-hours", &UserUse::gb_hours).data();
  add_hours("gb_hours_unused", "GB-hours idle", &UserUse::gb_hours_unused).data();
  add_share("memory_share_p50", "memory used", &UserUse::memory_share);
  add_share("time_share_p50", "limit used", &UserUse::time_share);
  rows.add(
          prices.any() ? Tier::usual : Tier::data, "cost_unused", "cost of idle",
          [&](const UserUse& user) { return study::cost_of_unused(user, prices); },
          figure::Decimals{2})
      .table_only();
  return rows;
}

constexpr const char* kUsersExplained =
    "Jobs of a minute or longer. Idle: share of the allocated time not used; \"-\" if not "
    "measured.\nMemory used, limit used: medians over the jobs.\n";

/// Says of how many jobs the accounting shows more processor time than their cores have.
std::string doubts(const std::vector<JobUse>& jobs) {
  const auto doubtful = std::count_if(jobs.begin(), jobs.end(),
                                      [](const JobUse& job) { return job.used_more_cores(); });
  if (doubtful == 0) return "";
  return fmt::format(
      "{} with more processor time than the cores held can give, counted as fully used: not "
      "confined to these cores, or wrong accounting.\n",
      text::counted(static_cast<std::uint64_t>(doubtful), "job"));
}

figure::Listing rows_of(const std::vector<RightSize>& sizes, const study::Prices& prices) {
  const bool has_price = prices.core_hour > 0 || prices.gb_hour > 0;
  figure::Rows rows(sizes);
  const auto add_change = [&](const std::string& name, const char* label, double RightSize::*asked,
                              double RightSize::*enough) {
    rows.add(Tier::data, name, asked);
    rows.add("enough_" + name, label,
             [=](const RightSize& size) {
               return std::isnan(size.*enough)
                          ? Cell()
                          : Cell(size.*enough,
                                 fmt::format("{:g} -> {:g}", size.*asked, size.*enough));
             })
        .right();
  };
  rows.add("user", &RightSize::user);
  rows.add(Tier::key, "name", "job", &RightSize::name);
  rows.add("jobs", &RightSize::jobs, text::grouped);
  add_change("cpus", "cores", &RightSize::cores, &RightSize::enough_cores);
  add_change("memory_gb", "GB", &RightSize::memory_gb, &RightSize::enough_memory_gb);
  rows.add(Tier::data, "time_limit_s", &RightSize::limit);
  rows.add("enough_time_limit_s", "time limit",
           [](const RightSize& size) {
             return size.enough_limit == kNoDuration
                        ? Cell()
                        : Cell(size.enough_limit,
                               fmt::format("{} -> {}", text::format_duration(size.limit),
                                           text::format_duration(size.enough_limit)));
           })
      .right();
  rows.add(Tier::detail, "core_hours_freed", "core-hours freed", &RightSize::core_hours,
           figure::Decimals{1});
  rows.add(Tier::detail, "gb_hours_freed", "GB-hours freed", &RightSize::gb_hours,
           figure::Decimals{1});
  rows.add(
          has_price ? Tier::usual : Tier::data, "saved",
          [&](const RightSize& size) { return size.saved(prices); }, figure::Decimals{2})
      .table_only();
  return rows;
}

constexpr const char* kSizesExplained =
    "What was asked -> what would have been enough: a quarter more cores than the busiest job "
    "used on average,\na fifth more memory than any had, a quarter more time than the longest "
    "took. Averages hide peaks: try it first.\n";

figure::Listing rows_of(const std::vector<JobUse>& jobs) {
  figure::Rows rows(jobs);
  rows.add("job_id", &JobUse::id);
  rows.add("name", &JobUse::name);
  rows.add("user", &JobUse::user);
  rows.add("state", &JobUse::state);
  rows.add("run_s", "run", &JobUse::elapsed);
  rows.add("time_limit_s", "limit", &JobUse::limit);
  rows.add("cpus", &JobUse::cores);
  rows.add("cpus_used", &JobUse::cores_used);
  rows.add("memory_gb", &JobUse::memory_gb);
  rows.add("memory_used_gb", &JobUse::memory_used_gb);
  rows.add("gpus", &JobUse::gpus);
  rows.add("gpu_use", &JobUse::gpu_use);
  return rows;
}

/// What a user hears of the jobs of some days: the sum, what could be asked less, and the jobs that
/// left most GPU time idle.
std::string summary_of(const UserUse& user, const std::vector<JobUse>& jobs,
                       const std::vector<RightSize>& sizes, const study::Prices& prices) {
  std::string made = fmt::format("{}: {}, {} GPU-hours, {} core-hours\n", user.user,
                                 text::counted(static_cast<std::uint64_t>(user.jobs), "job"),
                                 tenths(user.gpu_hours), tenths(user.core_hours));
  if (user.gpu_hours_known > 0) {
    made += fmt::format("The GPUs were idle {} of that time.\n",
                        percent_of(user.gpu_hours_unused / user.gpu_hours_known));
  }
  if (user.core_hours > 0) {
    made += fmt::format("The cores were idle {} of that time.\n",
                        percent_of(user.core_hours_unused / user.core_hours));
  }
  if (prices.any()) {
    made += fmt::format("What was idle cost {:.2f}.\n", study::cost_of_unused(user, prices));
  }
  for (const RightSize& size : sizes) {
    if (size.user != user.user) continue;
    made += fmt::format("Jobs called {} could ask less: {}.\n", size.name, enough_words(size));
  }
  std::vector<const JobUse*> worst;
  const auto idle_s = [](const JobUse* job) {
    return std::isnan(job->gpu_use) ? 0 : (1 - job->gpu_use) * job->gpus * seconds(job->elapsed);
  };
  for (const JobUse& job : jobs) {
    if (job.user == user.user && idle_s(&job) > 0) worst.push_back(&job);
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [&](const JobUse* a, const JobUse* b) { return idle_s(a) > idle_s(b); });
  constexpr std::size_t kMost = 5;
  if (!worst.empty()) made += "\nThe jobs that left most GPU time idle:\n";
  for (std::size_t at = 0; at < std::min(kMost, worst.size()); ++at) {
    made += use_in_words(*worst[at], {});
  }
  return made;
}

/// A word that is a file or "-" is the log, any other a job.
Result<void> sort_words(EfficiencyOptions& options) {
  for (const std::string& word : options.what) {
    std::error_code unknown;
    const bool is_log = word == "-" || std::filesystem::exists(word, unknown);
    std::string& place = is_log ? options.log : options.job;
    if (!place.empty()) {
      return fail(Code::usage,
                  fmt::format("at most one log and one job: \"{}\" and \"{}\"", place, word));
    }
    place = word;
  }
  const bool is_number = !options.job.empty() && options.job[0] >= '0' && options.job[0] <= '9';
  if (!options.job.empty() && !is_number) {
    return fail(Code::usage,
                fmt::format("there is no file \"{}\", and a job is a number", options.job));
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
    return fail(Code::usage, fmt::format("there is no job {}, nor any that ran", options.job),
                where);
  }
  return fail(Code::usage,
              fmt::format("there is no job {} among the {} that ran, {} to {}", options.job,
                          log.jobs.size(), log.jobs.front().id, log.jobs.back().id),
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
    return fail(Code::usage, "no job that ran is left", {.file = name_of_log(options)});
  }
  const std::vector<UserUse> users = study::by_user(*jobs);
  if (!options.out.empty()) {
    figure::Document document = study::efficiency_document(*jobs, options.prices);
    document.title = "What was used of what was held";
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
      letters.push_back({user.user, summary_of(user, *jobs, sizes, options.prices)});
    }
    return tell_users(options.tell, letters);
  }
  const ListOptions& list = options.list;
  if (options.sizes) {
    if (sizes.empty() && list.explains()) {
      fmt::print("No jobs are known that could ask a quarter less: it takes five of a name.\n");
      return kDone;
    }
    return list.print(rows_of(sizes, options.prices), kSizesExplained);
  }
  if (options.job.empty() && options.user.empty()) {
    if (!users.empty()) {
      return list.print(rows_of(users, options.prices), kUsersExplained + doubts(*jobs));
    }
    if (!list.explains()) return list.print(rows_of(users, options.prices));
    fmt::print("No job ran for a minute or longer.\n{}", doubts(*jobs));
    return kDone;
  }
  if (list.output != "table" || !list.explains()) return list.print(rows_of(*jobs));
  for (const JobUse& job : *jobs) fmt::print("{}", use_in_words(job, sizes));
  return kDone;
}

}  // namespace

void register_efficiency(Program& program) {
  CLI::App& command =
      program.command(Purpose::understand, "efficiency",
                      "Say what jobs used of the cores, memory, GPUs and time that they held");
  const auto options = std::make_shared<EfficiencyOptions>();
  command
      .add_option(
          "WHAT", options->what,
          fmt::format("LOG: text of {}, - for standard input; without one the service is asked. "
                      "JOB: only this job, or all tasks of this array",
                      study::kUseCommand))
      ->expected(0, -1)
      ->option_text("[LOG] [JOB]");
  command
      .add_option("--user", options->user, "Each job of this user; default: all users, summed up")
      ->type_name("NAME");
  command
      .add_option("--since", options->since,
                  "Jobs of a log submitted since, of the service ended since: 7d, 2026-11-22; "
                  "default of the service: 7d")
      ->type_name("TIME");
  command.add_flag("--lenient", options->lenient,
                   "Drop bad rows of a log and say how many and why");
  command.add_flag("--sizes", options->sizes,
                   "What jobs could ask instead: cores, memory, time limit");
  command.add_option("--gpu-hour", options->prices.gpu_hour, "What an hour of a GPU costs")
      ->type_name("PRICE")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--core-hour", options->prices.core_hour, "What an hour of a core costs")
      ->type_name("PRICE")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--gb-hour", options->prices.gb_hour, "What an hour of a GB of memory costs")
      ->type_name("PRICE")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--out", options->out, "Folder for report.html and its tables")
      ->type_name("DIR");
  command
      .add_option("--tell", options->tell,
                  "For each user, run this shell command with the user's summary on standard "
                  "input and the name in ALMANAC_USER")
      ->type_name("COMMAND");
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
