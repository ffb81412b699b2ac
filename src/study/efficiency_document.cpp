// SPDX-License-Identifier: Apache-2.0
#include "study/efficiency_document.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/human.h"

namespace almanac::study {
namespace {

using figure::Figure;
using figure::Unit;

constexpr double kHour_s = 3600;

Figure users_figure(const std::vector<UserUse>& users, const Prices& prices) {
  Figure made{
      .id = "use_by_user",
      .title = "Allocated and unused resources by user",
      .caption =
          "Jobs that ran at least a minute. Idle: share of the allocated time not used, over "
          "jobs with measurements. Memory and time limit: medians over the jobs.",
      .compared = "user"};
  auto& user = made.text("user", "User");
  auto& jobs = made.number("jobs", "Jobs", Unit::jobs);
  auto& gpu = made.number("gpu_s", "Allocated GPU time", Unit::gpu_seconds);
  auto& gpu_idle = made.number("idle_gpu_s", "Idle GPU time", Unit::gpu_seconds);
  auto& gpu_share = made.number("gpu_idle_fraction", "Idle share of GPUs", Unit::fraction);
  auto& gpu_zero = made.number("unused_gpu_s", "GPU time of jobs at 0 % use", Unit::gpu_seconds);
  auto& core = made.number("core_s", "Allocated core time", Unit::cpu_seconds);
  auto& core_idle = made.number("idle_core_s", "Idle core time", Unit::cpu_seconds);
  auto& core_share = made.number("core_idle_fraction", "Idle share of cores", Unit::fraction);
  auto& memory = made.number("memory_fraction", "Used memory", Unit::fraction);
  auto& limit = made.number("limit_fraction", "Used time limit", Unit::fraction);
  figure::Column* const cost =
      prices.any() ? &made.number("cost_of_idle", "Cost of idle time") : nullptr;
  double all = 0;
  for (const UserUse& each : users) {
    user.add(each.user);
    jobs.add(each.jobs);
    gpu.add(each.gpu_hours * kHour_s);
    gpu_idle.add(each.gpu_hours_known > 0 ? each.gpu_hours_unused * kHour_s : std::nan(""));
    gpu_share.add(each.gpu_hours_known > 0 ? each.gpu_hours_unused / each.gpu_hours_known
                                           : std::nan(""));
    gpu_zero.add(each.gpu_hours_judged > 0 ? each.gpu_hours_at_zero * kHour_s : std::nan(""));
    core.add(each.core_hours * kHour_s);
    core_idle.add(each.core_hours_unused * kHour_s);
    core_share.add(each.core_hours > 0 ? each.core_hours_unused / each.core_hours : std::nan(""));
    memory.add(each.memory_share);
    limit.add(each.time_share);
    if (cost != nullptr) cost->add(cost_of_unused(each, prices));
    all += each.jobs;
  }
  made.n = static_cast<std::int64_t>(all);
  const bool gpus = std::any_of(users.begin(), users.end(),
                                [](const UserUse& each) { return each.gpu_hours_known > 0; });
  made.charts.push_back({.kind = "bar", .x = "user", .y = {gpus ? "idle_gpu_s" : "idle_core_s"}});
  return made;
}

Figure sizes_figure(const std::vector<RightSize>& sizes, const Prices& prices) {
  Figure made{
      .id = "right_sizes",
      .title = "Smaller requests that would have sufficed",
      .caption =
          "For at least five jobs of one user and name: the requested cores, memory and time "
          "limit, and what would have been enough: 25 % more cores than the busiest job "
          "used on average, 20 % more memory than any job used, 25 % more time than the "
          "longest run."};
  auto& user = made.text("user", "User");
  auto& name = made.text("name", "Job");
  auto& jobs = made.number("jobs", "Jobs", Unit::jobs);
  auto& cores = made.number("cores", "Requested cores");
  auto& enough_cores = made.number("enough_cores", "Sufficient cores");
  auto& memory = made.number("memory_gb", "Requested memory, GB");
  auto& enough_memory = made.number("enough_memory_gb", "Sufficient memory, GB");
  auto& limit = made.number("limit_s", "Requested time limit", Unit::seconds);
  auto& enough_limit = made.number("enough_limit_s", "Sufficient time limit", Unit::seconds);
  auto& freed = made.number("freed_core_s", "Freed core time", Unit::cpu_seconds);
  auto& freed_memory = made.number("freed_gb_hours", "Freed memory, GB-hours");
  const bool has_price = prices.core_hour > 0 || prices.gb_hour > 0;
  figure::Column* const cost = has_price ? &made.number("saved", "Saved") : nullptr;
  const auto length = [](Duration each) {
    return each == kNoDuration ? std::nan("") : seconds(each);
  };
  std::int64_t all = 0;
  for (const RightSize& each : sizes) {
    user.add(each.user);
    name.add(each.name);
    jobs.add(each.jobs);
    cores.add(each.cores);
    enough_cores.add(each.enough_cores);
    memory.add(each.memory_gb);
    enough_memory.add(each.enough_memory_gb);
    limit.add(length(each.limit));
    enough_limit.add(length(each.enough_limit));
    freed.add(each.core_hours * kHour_s);
    freed_memory.add(each.gb_hours);
    if (cost != nullptr) cost->add(each.saved(prices));
    all += each.jobs;
  }
  made.n = all;
  return made;
}

}  // namespace

figure::Document efficiency_document(const std::vector<JobUse>& jobs, const Prices& prices) {
  const std::vector<UserUse> users = by_user(jobs);
  const std::vector<RightSize> sizes = right_sizes(jobs);
  UserUse all;
  double cost = 0;
  for (const UserUse& each : users) {
    all.jobs += each.jobs;
    all.gpu_hours += each.gpu_hours;
    all.gpu_hours_known += each.gpu_hours_known;
    all.gpu_hours_unused += each.gpu_hours_unused;
    all.jobs_at_zero += each.jobs_at_zero;
    all.gpu_hours_at_zero += each.gpu_hours_at_zero;
    all.gpu_hours_judged += each.gpu_hours_judged;
    all.core_hours += each.core_hours;
    all.core_hours_unused += each.core_hours_unused;
    cost += cost_of_unused(each, prices);
  }
  figure::Document made{.kind = "study"};
  made.subtitle = fmt::format("{} of {} that ran at least a minute",
                              text::counted(static_cast<std::size_t>(all.jobs), "job"),
                              text::counted(users.size(), "user"));
  made.facts = {{"jobs", text::grouped(all.jobs)},
                {"users", text::grouped(static_cast<std::int64_t>(users.size()))},
                {"allocated GPU-hours", text::grouped(std::llround(all.gpu_hours))}};
  // Only jobs with measured cores count.
  if (all.core_hours > 0) {
    made.facts.emplace_back("allocated core-hours", text::grouped(std::llround(all.core_hours)));
  }
  if (prices.any()) made.facts.emplace_back("cost of idle time", fmt::format("{:.2f}", cost));
  const auto wasted = [&](const char* what, double unused, double held, double known,
                          double of_first) {
    if (!(known > 0)) return;
    made.findings.push_back(
        {.headline = fmt::format("{} of the allocated {}-hours were idle.",
                                 text::human_share(unused / known), what),
         .detail =
             fmt::format("{} of {} {}-hours, over jobs with measurements ({} of all). User {} has "
                         "the largest part.",
                         text::grouped(std::llround(unused)), text::grouped(std::llround(known)),
                         what, text::human_share(known / held), users.front().user),
         .figure = "use_by_user",
         .advice = of_first >= 0.3 * unused && users.size() > 2 && unused > 0.3 * known
                       ? fmt::format("Talk to {} first.", users.front().user)
                       : ""});
  };
  if (!users.empty()) {
    if (all.gpu_hours_known > 0) {
      wasted("GPU", all.gpu_hours_unused, all.gpu_hours, all.gpu_hours_known,
             users.front().gpu_hours_unused);
    } else {
      wasted("core", all.core_hours_unused, all.core_hours, all.core_hours,
             users.front().core_hours_unused);
    }
  }
  if (all.gpu_hours_at_zero > 0) {
    made.findings.push_back(
        {.headline = fmt::format("{} GPU-hours went to jobs whose GPUs never computed.",
                                 text::grouped(std::llround(all.gpu_hours_at_zero))),
         .detail = fmt::format("{}, {} of the measured GPU-hours.",
                               text::counted(static_cast<std::size_t>(all.jobs_at_zero), "job"),
                               text::human_share(all.gpu_hours_at_zero / all.gpu_hours_judged)),
         .figure = "use_by_user",
         .advice = "almanac efficiency --alerts lists the users and their jobs."});
  }
  figure::Section section{.id = "use", .title = "Usage", .text = {}, .figures = {}};
  section.figures.push_back(users_figure(users, prices));
  if (!sizes.empty()) {
    double freed = 0;
    double freed_memory = 0;
    for (const RightSize& each : sizes) {
      freed += each.core_hours;
      freed_memory += each.gb_hours;
    }
    made.findings.push_back(
        {.headline = fmt::format("{} could request less.",
                                 text::counted(sizes.size(), "group of jobs", "groups of jobs")),
         .detail =
             freed + freed_memory >= 1
                 ? fmt::format("Smaller requests would have freed {} core-hours and {} GB-hours of "
                               "memory. Averages hide peaks, so try one job first.",
                               text::grouped(std::llround(freed)),
                               text::grouped(std::llround(freed_memory)))
                 : std::string("The gain is in their time limits: with shorter ones, jobs can "
                               "start earlier by backfill."),
         .figure = "right_sizes",
         .advice = {}});
    section.figures.push_back(sizes_figure(sizes, prices));
  }
  made.sections.push_back(std::move(section));
  made.provenance.jobs = static_cast<std::int64_t>(jobs.size());
  return made;
}

}  // namespace almanac::study
