// SPDX-License-Identifier: Apache-2.0
#include "live/measured.h"

#include <utility>

namespace almanac::live {

Measured::Measured(Book& book, const std::vector<store::JobNumber>& numbers,
                   const measure::Measuring& measuring, std::size_t nodes)
    : book_(book), numbers_(numbers), measuring_(measuring), is_one_node_(nodes == 1) {}

const Entry* Measured::entry_of(JobId job) const { return book_.find(numbers_[index(job)]); }

std::vector<store::JobNumber> Measured::take(const Sight& sight) {
  std::vector<store::JobNumber> reported;
  all_gpus_tell_ = sight.all_gpus_tell;
  bandwidth_gbs_ = sight.bandwidth_gbs;
  for (const Sight::OfJob& each : sight.jobs) {
    Entry* const entry = book_.find(each.job);
    if (entry == nullptr) continue;
    if (each.gpu_use) entry->gpu_use.add(*each.gpu_use);
    entry->bandwidth_gbs = each.bandwidth_gbs;
    if (!each.progress) continue;
    const auto before = std::exchange(entry->progress, each.progress);
    const auto& metric = each.progress->metric;
    if (metric && (!before || before->metric != metric)) reported.push_back(each.job);
  }
  return reported;
}

std::optional<policy::Training> Measured::training(JobId job, Time) const {
  const Entry* const entry = entry_of(job);
  if (entry == nullptr || !entry->progress) return std::nullopt;
  policy::Training made{.total = static_cast<double>(entry->job.asked.steps),
                        .progress = entry->progress->step};
  if (const auto& metric = entry->progress->metric) {
    made.metric = metric->value;
    made.metric_at = metric->step;
  }
  return made;
}

std::optional<double> Measured::gpu_use(JobId job) const {
  const Entry* const entry = entry_of(job);
  return entry != nullptr ? entry->gpu_use.mean() : std::nullopt;
}

bool Measured::will_know_gpu_use(JobId job) const {
  const Entry* const entry = entry_of(job);
  return entry != nullptr && all_gpus_tell_ && entry->job.asked.gpus > 0 &&
         entry->job.asked.gpu_share == 1;
}

std::optional<double> Measured::fresh(const std::optional<measure::Stretch>& told) const {
  return told && told->from >= changed_ ? std::optional(told->value) : std::nullopt;
}

std::optional<double> Measured::bandwidth_gbs(JobId job) const {
  const Entry* const entry = entry_of(job);
  return entry != nullptr ? fresh(entry->bandwidth_gbs) : std::nullopt;
}

std::optional<double> Measured::bandwidth_gbs(NodeId) const {
  return is_one_node_ ? fresh(bandwidth_gbs_) : std::nullopt;
}

}  // namespace almanac::live
