// SPDX-License-Identifier: Apache-2.0
#include "advice/knobs.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "text/duration.h"

namespace almanac::advice {
namespace {

using Place = Setting::Place;

constexpr std::uint32_t kWeight = 1000;  ///< Of a site whose weights are all 0.
constexpr std::uint32_t kFactor = 4;
constexpr std::int64_t kLongestWindow_min = 43'200;  ///< That Slurm takes.

class Knobs {
 public:
  Knobs(const site::Site& site, const trace::Trace& log) : site_(site), log_(log) {}

  std::vector<Setting> find() {
    if (site_.config.priority.type == site::PriorityType::multifactor) add_priority();
    add_scheduler();
    for (const site::Qos& each : site_.qos) add_qos(each);
    for (const site::Partition& each : site_.partitions) add_partition(each);
    std::erase_if(made_, [&](const Setting& each) {
      const auto other = changed(site_, std::span(&each, 1));
      return !other || value_of(each, *other) == value_of(each, site_);
    });
    return std::move(made_);
  }

 private:
  void add(Place place, const std::string& owner, const std::string& name, std::string value) {
    made_.push_back({place, owner, name, std::move(value)});
  }

  void add_weight(const std::string& name, std::uint32_t weight, std::uint32_t largest) {
    const std::uint32_t low = weight > 0 ? weight / kFactor : largest / kFactor;
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const auto raised =
        static_cast<std::uint32_t>(std::min(kMost, std::uint64_t{kFactor} * weight));
    const std::uint32_t high = weight > 0 ? raised : largest;
    for (const std::uint32_t value : {low, high}) {
      if (value > 0) add(Place::config, "", name, fmt::to_string(value));
    }
  }

  void add_priority() {
    const site::PrioritySettings& now = site_.config.priority;
    const std::uint32_t set = std::max({now.weight_age, now.weight_assoc, now.weight_fair_share,
                                        now.weight_job_size, now.weight_partition, now.weight_qos});
    const std::uint32_t largest = set > 0 ? set : kWeight;
    add_weight("PriorityWeightAge", now.weight_age, largest);
    if (!site_.associations.empty()) {
      add_weight("PriorityWeightFairshare", now.weight_fair_share, largest);
    }
    add_weight("PriorityWeightJobSize", now.weight_job_size, largest);
    if (now.weight_job_size > 0) {
      add(Place::config, "", "PriorityFavorSmall", now.favor_small ? "NO" : "YES");
    }
    if (differ(site_.partitions, &site::Partition::priority_job_factor)) {
      add_weight("PriorityWeightPartition", now.weight_partition, largest);
    }
    if (differ(site_.qos, &site::Qos::priority)) {
      add_weight("PriorityWeightQOS", now.weight_qos, largest);
    }
    for (const char* const days : {"7-0", "1-0", "30-0"}) {
      if (now.weight_age > 0) add(Place::config, "", "PriorityMaxAge", days);
    }
    for (const char* const days : {"7-0", "1-0", "30-0"}) {
      if (now.weight_fair_share > 0) add(Place::config, "", "PriorityDecayHalfLife", days);
    }
  }

  void add_scheduler() {
    if (site_.config.scheduler.type == site::SchedulerType::builtin) {
      add(Place::config, "", "SchedulerType", "sched/backfill");
    }
    const auto parameter = [&](const char* name, std::int64_t value) {
      add(Place::scheduler, "", name, fmt::to_string(value));
    };
    for (const int jobs : {500, 100, 2000}) parameter("bf_max_job_test", jobs);
    for (const std::int64_t minutes : {std::int64_t{1440}, longest_limit_min()}) {
      parameter("bf_window", std::min(minutes, kLongestWindow_min));
    }
    for (const int seconds : {30, 60}) parameter("bf_interval", seconds);
    for (const int seconds : {60, 300}) parameter("bf_resolution", seconds);
    for (const int jobs : {100, 1000}) parameter("default_queue_depth", jobs);
    if (site_.diagnostics) add(Place::scheduler, "", "bf_continue", "yes");
    if (site_.config.scheduler.bf_max_job_user > 0) parameter("bf_max_job_user", 0);
  }

  /// Returns the longest limit of all jobs that have one, rounded to whole days.
  std::int64_t longest_limit_min() const {
    Duration longest{0};
    for (const trace::Job& job : log_.jobs) {
      if (job.request.time_limit != kNoDuration && job.request.time_limit != text::kUnlimited) {
        longest = std::max(longest, job.request.time_limit);
      }
    }
    return 1440 * std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::days>(longest).count());
  }

  void add_qos(const site::Qos& qos) {
    const auto count = [&](const char* name, std::int64_t limit) {
      if (limit == site::kNoLimit) return;
      for (const std::int64_t value : {2 * limit, 4 * limit, std::int64_t{-1}}) {
        add(Place::qos, qos.name, name, fmt::to_string(value));
      }
    };
    const auto tres = [&](const char* name, const site::TresCounts& limits) {
      for (const site::TresCount& each : limits) {
        const std::string& resource = site_.tres[each.tres].name;
        for (const int factor : {2, 4}) {
          add(Place::qos, qos.name, name,
              fmt::format("{}={}{}", resource, factor * each.count,
                          each.tres == site::kMemory ? "M" : ""));
        }
        add(Place::qos, qos.name, name, resource + "=-1");
      }
    };
    count("GrpJobs", qos.group.jobs);
    count("MaxJobsPU", qos.per_user.jobs);
    count("MaxJobsPA", qos.per_account.jobs);
    tres("GrpTRES", qos.group.tres);
    tres("MaxTRESPU", qos.per_user.tres);
    tres("MaxTRESPA", qos.per_account.tres);
    tres("MaxTRES", qos.job.tres);
    if (qos.job.wall != kNoDuration) add(Place::qos, qos.name, "MaxWall", "-1");
  }

  void add_partition(const site::Partition& partition) {
    const auto add_to = [&](const char* name, std::string value) {
      add(Place::partition, partition.name, name, std::move(value));
    };
    if (partition.max_time != text::kUnlimited) {
      const Duration longest = std::chrono::minutes(longest_limit_min());
      if (longest > partition.max_time) add_to("MaxTime", text::format_duration(longest));
    }
    if (partition.max_nodes != site::kNoLimit) add_to("MaxNodes", "-1");
    if (partition.max_cpus_per_node != site::kNoLimit) add_to("MaxCPUsPerNode", "-1");
  }

  template <typename Row, typename Value>
  static bool differ(const std::vector<Row>& rows, Value Row::*field) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Row& each) { return each.*field != rows.front().*field; });
  }

  const site::Site& site_;
  const trace::Trace& log_;
  std::vector<Setting> made_;
};

}  // namespace

std::vector<Setting> knobs_of(const site::Site& site, const trace::Trace& log) {
  return Knobs(site, log).find();
}

}  // namespace almanac::advice
