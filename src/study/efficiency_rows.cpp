// SPDX-License-Identifier: Apache-2.0
#include "study/efficiency_rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/duration.h"
#include "text/human.h"

namespace almanac::study {
namespace {

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

}  // namespace

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

figure::Listing user_use_rows(const std::vector<UserUse>& users, const Prices& prices) {
  figure::Rows rows(users);
  const auto add_hours = [&](const char* name, const char* label, double UserUse::*of) -> auto& {
    return rows.add(name, label, of, figure::Decimals{1});
  };
  const auto add_unused = [&](const char* name, const char* label, double UserUse::*of,
                              double UserUse::*all) {
    rows.add(name, label, [=](const UserUse& user) {
      return figure::Cell(user.*of, user.*all > 0 ? percent_of(user.*of / user.*all) : "-");
    });
  };
  const auto add_share = [&](const char* name, const char* label, double UserUse::*of) {
    rows.add(figure::Tier::detail, name, label, of, percent_of);
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
          prices.any() ? figure::Tier::usual : figure::Tier::data, "cost_unused", "cost of idle",
          [&](const UserUse& user) { return cost_of_unused(user, prices); }, figure::Decimals{2})
      .table_only();
  return rows;
}

std::string doubts_in_words(const std::vector<JobUse>& jobs) {
  const auto doubtful = std::count_if(jobs.begin(), jobs.end(),
                                      [](const JobUse& job) { return job.used_more_cores(); });
  if (doubtful == 0) return "";
  return fmt::format(
      "{} with more processor time than the cores held can give, counted as fully used: not "
      "confined to these cores, or wrong accounting.\n",
      text::counted(static_cast<std::uint64_t>(doubtful), "job"));
}

figure::Listing right_size_rows(const std::vector<RightSize>& sizes, const Prices& prices) {
  const bool has_price = prices.core_hour > 0 || prices.gb_hour > 0;
  figure::Rows rows(sizes);
  const auto add_change = [&](const std::string& name, const char* label, double RightSize::*asked,
                              double RightSize::*enough) {
    rows.add(figure::Tier::data, name, asked);
    rows.add("enough_" + name, label,
             [=](const RightSize& size) {
               return std::isnan(size.*enough)
                          ? figure::Cell()
                          : figure::Cell(size.*enough,
                                         fmt::format("{:g} -> {:g}", size.*asked, size.*enough));
             })
        .right();
  };
  rows.add("user", &RightSize::user);
  rows.add(figure::Tier::key, "name", "job", &RightSize::name);
  rows.add("jobs", &RightSize::jobs, text::grouped);
  add_change("cpus", "cores", &RightSize::cores, &RightSize::enough_cores);
  add_change("memory_gb", "GB", &RightSize::memory_gb, &RightSize::enough_memory_gb);
  rows.add(figure::Tier::data, "time_limit_s", &RightSize::limit);
  rows.add("enough_time_limit_s", "time limit",
           [](const RightSize& size) {
             return size.enough_limit == kNoDuration
                        ? figure::Cell()
                        : figure::Cell(size.enough_limit,
                                       fmt::format("{} -> {}", text::format_duration(size.limit),
                                                   text::format_duration(size.enough_limit)));
           })
      .right();
  rows.add(figure::Tier::detail, "core_hours_freed", "core-hours freed", &RightSize::core_hours,
           figure::Decimals{1});
  rows.add(figure::Tier::detail, "gb_hours_freed", "GB-hours freed", &RightSize::gb_hours,
           figure::Decimals{1});
  rows.add(
          has_price ? figure::Tier::usual : figure::Tier::data, "saved",
          [&](const RightSize& size) { return size.saved(prices); }, figure::Decimals{2})
      .table_only();
  return rows;
}

figure::Listing job_use_rows(const std::vector<JobUse>& jobs) {
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

std::string user_use_in_words(const UserUse& user, const std::vector<JobUse>& jobs,
                              const std::vector<RightSize>& sizes, const Prices& prices) {
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
    made += fmt::format("Cost of idle time: {:.2f}.\n", cost_of_unused(user, prices));
  }
  for (const RightSize& size : sizes) {
    if (size.user != user.user) continue;
    made += fmt::format("Jobs called {} could request less: {}.\n", size.name, enough_words(size));
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

}  // namespace almanac::study
