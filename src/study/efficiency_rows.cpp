// SPDX-License-Identifier: Apache-2.0
#include "study/efficiency_rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/duration.h"
#include "text/gauge.h"
#include "text/human.h"

namespace almanac::study {
namespace {

constexpr double kJoulesOfAKwh = 3.6e6;

std::string percent_of(double value) { return text::human_share(value); }

constexpr const char* kMoreThanHeld =
    ": more than the job held, so it was not confined to that, or the accounting is wrong";

std::string cores_in_words(const JobUse& job) {
  const std::string cores = std::isnan(job.cores) ? "" : fmt::format("{:g}", job.cores);
  if (std::isnan(job.cores_used)) {
    return (cores.empty() ? "none asked" : cores + " held") + ", use not recorded";
  }
  if (cores.empty()) return fmt::format("{:.1f} used on average, none asked", job.cores_used);
  return fmt::format("{:.1f} used of {} on average ({}{})", job.cores_used, cores,
                     percent_of(job.core_share()), job.used_more_cores() ? kMoreThanHeld : "");
}

std::string memory_in_words(const JobUse& job) {
  if (!std::isnan(job.memory_share())) {
    return fmt::format("{:.1f} GB used at most of {:.1f} GB ({}{})", job.memory_used_gb,
                       job.memory_gb, percent_of(job.memory_share()),
                       job.used_more_memory() ? kMoreThanHeld : "");
  }
  if (!std::isnan(job.memory_used_gb)) {
    return fmt::format("{:.1f} GB used at most, none asked", job.memory_used_gb);
  }
  return "use not recorded (on Slurm: MaxRSS of the job's steps)";
}

std::string gpus_in_words(const JobUse& job) {
  std::string made =
      fmt::format("{:g}{} held", job.gpus, job.gpu_type.empty() ? "" : " " + job.gpu_type);
  if (std::isnan(job.gpu_use)) {
    made += ", use not recorded (on Slurm: gres/gpuutil in AccountingStorageTRES)";
  } else if (job.gpu_use_is_sample) {
    made += fmt::format(", {} busy at the last sample", percent_of(job.gpu_use));
    if (!std::isnan(job.gpu_use_at_most)) {
      made += fmt::format(", {} at most", percent_of(job.gpu_use_at_most));
    }
  } else {
    made += fmt::format(", computing {} of the time", percent_of(job.gpu_use));
  }
  return made;
}

std::string time_in_words(const JobUse& job) {
  const std::string longest =
      job.longest == Duration{0}
          ? ""
          : fmt::format(" in several runs, the longest {}", text::format_duration(job.longest));
  return fmt::format("ran {}{}{}", text::format_duration(job.elapsed), longest,
                     job.limit == kNoDuration
                         ? ", no limit"
                         : fmt::format(" of {} ({})", text::format_duration(job.limit),
                                       percent_of(job.time_share())));
}

}  // namespace

std::string enough_in_words(const RightSize& size) {
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

std::string use_in_words(const JobUse& job, const std::vector<RightSize>& sizes, bool colour) {
  std::string made = fmt::format("job {} of {}{}, {}\n", job.id, job.user,
                                 job.name.empty() ? "" : fmt::format(" ({})", job.name),
                                 job.state.empty() ? "state not recorded" : job.state);
  const auto line = [&](const char* what, double share, const std::string& text) {
    made += fmt::format("  {:8} {} {}\n", what, text::gauge(share, colour), text);
  };
  line("cores", job.core_share(), cores_in_words(job));
  line("memory", job.memory_share(), memory_in_words(job));
  if (job.gpus > 0) line("GPUs", job.gpu_use, gpus_in_words(job));
  line("time", job.time_share(), time_in_words(job));
  const auto add = [&](const char* what, const std::string& text) {
    made += fmt::format("  {:8} {}\n", what, text);
  };
  if (job.gpus > 0 && !std::isnan(job.gpu_memory_gb)) {
    add("GPU mem.", fmt::format("{:.1f} GB used at most, {:.1f} GB per GPU", job.gpu_memory_gb,
                                job.gpu_memory_gb / job.gpus));
  }
  if (job.left_gpus_unused()) {
    add("note", fmt::format("the GPUs never computed: {:.1f} GPU-hours", job.gpu_hours()));
  }
  if (!std::isnan(job.energy_j)) {
    add("energy", fmt::format("{:.2f} kWh", job.energy_j / kJoulesOfAKwh));
  }
  for (const RightSize& size : sizes) {
    if (!is_for(size, job)) continue;
    add("enough", fmt::format("{}, by {} of that name and request", enough_in_words(size),
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
  rows.add("gpu_hours_at_zero", "at 0 %", [](const UserUse& user) {
    return user.gpu_hours_judged > 0
               ? figure::Cell(user.gpu_hours_at_zero, fmt::format("{:.1f}", user.gpu_hours_at_zero))
               : figure::Cell();
  });
  rows.add("jobs_at_zero", "jobs at 0 %", &UserUse::jobs_at_zero).data();
  add_hours("core_hours", "core-hours", &UserUse::core_hours);
  add_unused("core_hours_unused", "cores idle", &UserUse::core_hours_unused, &UserUse::core_hours);
  add_hours("gb_hours", "GB-hours", &UserUse::gb_hours).data();
  add_hours("gb_hours_unused", "GB-hours idle", &UserUse::gb_hours_unused).data();
  add_share("memory_share_p50", "memory used", &UserUse::memory_share);
  add_share("time_share_p50", "limit used", &UserUse::time_share);
  rows.add(
      figure::Tier::wide, "energy_kwh", "kWh",
      [](const UserUse& user) { return user.energy_j / kJoulesOfAKwh; }, figure::Decimals{1});
  rows.add(
          prices.any() ? figure::Tier::usual : figure::Tier::data, "cost_unused", "cost of idle",
          [&](const UserUse& user) { return cost_of_unused(user, prices); }, figure::Decimals{2})
      .table_only();
  return rows;
}

std::string unused_gpus_in_words(const std::vector<UserUse>& users) {
  double held = 0;
  double judged = 0;
  double at_zero = 0;
  int jobs = 0;
  for (const UserUse& user : users) {
    held += user.gpu_hours;
    judged += user.gpu_hours_judged;
    at_zero += user.gpu_hours_at_zero;
    jobs += user.jobs_at_zero;
  }
  if (held == 0) return "";
  if (judged == 0) {
    return fmt::format("GPU-hours at 0 % use: unknown, none of {:.1f} measured.\n", held);
  }
  const double rest = held - judged;
  return fmt::format(
      "GPU-hours at 0 % use: {:.1f} of {:.1f} measured ({}), in {}{}.\n", at_zero, judged,
      percent_of(at_zero / judged), text::counted(static_cast<std::uint64_t>(jobs), "job"),
      rest > 0.05 ? fmt::format("; {:.1f} more GPU-hours were not measured", rest) : "");
}

std::string samples_in_words(const std::vector<JobUse>& jobs) {
  const bool any = std::any_of(jobs.begin(), jobs.end(),
                               [](const JobUse& job) { return job.gpu_use_is_sample; });
  return any ? "Slurm keeps the last sample of GPU use and the highest, not the mean: idle shares "
               "are estimates.\n"
             : "";
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
  rows.add(figure::Tier::data, "gpus", &RightSize::gpus);
  rows.add(
          has_price ? figure::Tier::usual : figure::Tier::data, "saved",
          [&](const RightSize& size) { return size.saved(prices); }, figure::Decimals{2})
      .table_only();
  return rows;
}

figure::Listing job_use_rows(const std::vector<JobUse>& jobs) {
  figure::Rows rows(jobs);
  const auto add_share = [&](figure::Tier tier, const char* name, const char* label,
                             const auto& share) { rows.add(tier, name, label, share, percent_of); };
  rows.add("job_id", "job", &JobUse::id);
  rows.add(figure::Tier::detail, "name", "name", &JobUse::name);
  rows.add("user", &JobUse::user);
  rows.add(figure::Tier::wide, "partition", "partition", &JobUse::partition);
  rows.add(figure::Tier::detail, "state", "state", &JobUse::state);
  rows.add("run_s", "run", &JobUse::elapsed);
  rows.add(figure::Tier::wide, "time_limit_s", "limit", &JobUse::limit);
  rows.add("gpus", "GPUs", &JobUse::gpus);
  rows.add(figure::Tier::wide, "gpu_type", "GPU type", &JobUse::gpu_type);
  add_share(figure::Tier::usual, "gpu_use", "GPU use",
            [](const JobUse& job) { return job.gpu_use; });
  add_share(figure::Tier::wide, "gpu_use_max", "at most",
            [](const JobUse& job) { return job.gpu_use_at_most; });
  rows.add("gpu_memory_gb", "GPU GB", &JobUse::gpu_memory_gb, figure::Decimals{1});
  rows.add(
      "gpu_hours_unused", "GPU-h idle",
      [](const JobUse& job) {
        const bool is_unknown = job.gpus > 0 && std::isnan(job.gpu_use);
        return is_unknown ? JobUse::kUnknown : job.idle_gpu_hours();
      },
      figure::Decimals{1});
  rows.add(figure::Tier::wide, "cpus", "cores", &JobUse::cores);
  rows.add(figure::Tier::data, "cpus_used", "cores used", &JobUse::cores_used);
  add_share(figure::Tier::usual, "cpu_use", "cores used",
            [](const JobUse& job) { return job.core_share(); });
  rows.add(figure::Tier::wide, "memory_gb", "GB", &JobUse::memory_gb);
  rows.add(figure::Tier::data, "memory_used_gb", "GB used", &JobUse::memory_used_gb);
  add_share(figure::Tier::usual, "memory_use", "memory used",
            [](const JobUse& job) { return job.memory_share(); });
  add_share(figure::Tier::detail, "time_use", "limit used",
            [](const JobUse& job) { return job.time_share(); });
  rows.add(
      figure::Tier::wide, "energy_kwh", "kWh",
      [](const JobUse& job) { return job.energy_j / kJoulesOfAKwh; }, figure::Decimals{2});
  return rows;
}

}  // namespace almanac::study
