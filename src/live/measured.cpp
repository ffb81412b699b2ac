// SPDX-License-Identifier: Apache-2.0
#include "live/measured.h"

namespace almanac::live {

Measured::Measured(Book& book, const std::vector<store::JobNumber>& numbers,
                   const measure::Measuring& measuring, std::size_t nodes)
    : book_(book), numbers_(numbers), measuring_(measuring), is_one_node_(nodes == 1) {}

const Entry* Measured::entry_of(JobId job) const { return book_.find(numbers_[index(job)]); }

void Measured::take(const Sight& sight) {
  all_gpus_tell_ = sight.all_gpus_tell;
  bandwidth_gbs_ = sight.bandwidth_gbs;
  for (const Sight::OfJob& each : sight.jobs) {
    Entry* const entry = book_.find(each.job);
    if (entry == nullptr) continue;
    if (each.gpu_use) entry->gpu_use.add(*each.gpu_use);
    entry->bandwidth_gbs = each.bandwidth_gbs;
  }
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
