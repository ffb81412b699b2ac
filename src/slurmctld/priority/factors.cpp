// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/factors.h"

#include <algorithm>

namespace almanac::slurmctld {
namespace {

/// Slurm keeps time limits as 32 bits of minutes.
std::uint32_t minutes_of(Duration limit) {
  if (limit == text::kUnlimited) return kUnlimitedMinutes;
  return static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::minutes>(limit).count());
}

std::uint32_t truncated(double priority) {
  constexpr double kLargest = 4294967295.0;
  if (priority < 1) return 1;  // 0 means held
  if (priority > kLargest) return static_cast<std::uint32_t>(kLargest);
  return static_cast<std::uint32_t>(priority);
}

double normalized(std::uint32_t value, std::uint32_t largest, bool raw) {
  if (value == 0) return 0;
  if (raw) return value;
  return static_cast<double>(value) / static_cast<double>(largest);
}

}  // namespace

Scales::Scales(const site::Site& site) : settings_(site.config.priority) {
  for (const site::Node& each : site.nodes) {
    if (each.state.future) continue;
    ++nodes_;
    cpus_ += static_cast<std::uint32_t>(each.effective_cpus);
  }
  for (const site::Association& each : site.associations) {
    largest_association_ = std::max(largest_association_, each.priority);
  }
  for (const site::Qos& each : site.qos) largest_qos_ = std::max(largest_qos_, each.priority);
  for (const site::Partition& each : site.partitions) {
    PartitionScale scale;
    scale.job_factor = static_cast<std::uint32_t>(each.priority_job_factor);
    scale.max_time_min = minutes_of(each.max_time);
    for (site::TresIndex at = 0; at < site.tres.size(); ++at) {
      scale.tres.push_back(site.total(at, &each));
    }
    largest_partition_ = std::max(largest_partition_, scale.job_factor);
    partitions_.push_back(std::move(scale));
  }
}

void Scales::configure(const site::PrioritySettings& settings) { settings_ = settings; }

double Scales::age(Duration age) const {
  if (settings_.weight_age == 0) return 0;
  const auto old = std::max<std::int64_t>(std::chrono::floor<std::chrono::seconds>(age).count(), 0);
  const auto most = std::chrono::floor<std::chrono::seconds>(settings_.max_age).count();
  return old < most ? static_cast<double>(old) / static_cast<double>(most) : 1.0;
}

double Scales::association(std::uint32_t priority) const {
  if (settings_.weight_assoc == 0) return 0;
  return normalized(priority, largest_association_, settings_.no_normal_assoc);
}

double Scales::qos(std::uint32_t priority) const {
  if (settings_.weight_qos == 0) return 0;
  return normalized(priority, largest_qos_, settings_.no_normal_qos);
}

double Scales::partition(std::uint32_t partition) const {
  if (settings_.weight_partition == 0) return 0;
  return normalized(partitions_[partition].job_factor, largest_partition_,
                    settings_.no_normal_partition);
}

double Scales::size(const Size& size, std::uint32_t partition) const {
  if (settings_.weight_job_size == 0 || nodes_ == 0 || cpus_ == 0) return 0;
  const std::uint32_t cpus = size.total_cpus != 0 ? size.total_cpus : size.cpus;
  const double all_nodes = nodes_;
  const double all_cpus = cpus_;
  double factor = 0;
  if (settings_.small_relative_to_time) {
    // A job counts at least the CPUs that its nodes have on average.
    factor = static_cast<double>(size.min_nodes) * all_cpus / all_nodes;
    if (cpus > factor) factor = cpus;
    factor /= size.limit_min.value_or(partitions_[partition].max_time_min);
    factor /= all_cpus;
    if (settings_.favor_small) factor = 1.0 - factor;
  } else {
    // Unsigned as in Slurm: a job larger than the cluster wraps around to a large number.
    factor = (settings_.favor_small ? nodes_ - size.min_nodes : size.min_nodes) / all_nodes;
    if (cpus != 0) {
      factor += (settings_.favor_small ? cpus_ - cpus : cpus) / all_cpus;
      factor /= 2;
    }
  }
  return std::clamp(factor, 0.0, 1.0);
}

void Scales::tres(const Size& size, std::uint32_t partition, std::vector<double>& factors) const {
  factors.assign(settings_.weight_tres.size(), 0.0);
  const site::TresCounts& counts = size.held.empty() ? size.requested : size.held;
  for (std::size_t at = 0; at < factors.size(); ++at) {
    const site::TresIndex tres = settings_.weight_tres[at].tres;
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& each) { return each.tres == tres; });
    if (found == counts.end()) continue;
    const auto count = static_cast<double>(found->count);
    const std::int64_t all = partitions_[partition].tres[tres];
    if (settings_.no_normal_tres) {
      factors[at] = count;
    } else if (all != 0) {
      factors[at] = count / static_cast<double>(all);
    }
  }
}

double Scales::weighted_tres(const Factors& factors) const {
  double sum = 0;
  for (std::size_t at = 0; at < factors.tres.size(); ++at) {
    sum += factors.tres[at] * settings_.weight_tres[at].weight;
  }
  return sum;
}

std::uint32_t Scales::sum(const Factors& factors) const {
  return truncated(
      factors.age * settings_.weight_age + factors.association * settings_.weight_assoc +
      factors.fair_share * settings_.weight_fair_share + factors.size * settings_.weight_job_size +
      factors.partition * settings_.weight_partition + factors.qos * settings_.weight_qos +
      weighted_tres(factors) + static_cast<double>(factors.site) -
      static_cast<double>(factors.nice));
}

std::uint32_t Scales::sum_in_other_partition(const Factors& factors) const {
  return truncated(
      factors.partition * settings_.weight_partition +
      (factors.age * settings_.weight_age + factors.association * settings_.weight_assoc +
       factors.fair_share * settings_.weight_fair_share + factors.size * settings_.weight_job_size +
       factors.qos * settings_.weight_qos + weighted_tres(factors) +
       static_cast<double>(factors.site) - static_cast<double>(factors.nice)));
}

}  // namespace almanac::slurmctld
