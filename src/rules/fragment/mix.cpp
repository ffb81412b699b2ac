// SPDX-License-Identifier: Apache-2.0
#include "rules/fragment/mix.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::fragment {
namespace {

/// Why what a node has left is of no use to a kind, in the order in which the reasons are summed:
/// neither cores nor GPUs (q1), GPUs (q2), cores (q4), no GPU asked though cores would do (xl), nor
/// would they (xr), another model (na).
enum Why : std::uint8_t { q1, q2, q4, xl, xr, na, kWhys };

}  // namespace

Mix::Mix(std::vector<Kind> kinds) : kinds_(std::move(kinds)) {
  double cores = 0;
  double gpus = 0;
  for (const Kind& kind : kinds_) {
    cores += kind.frequency * static_cast<double>(kind.request.cpu_milli);
    gpus += kind.frequency * kind.request.total_milli() / kWhole;
    levels_.push_back(static_cast<std::int16_t>(kind.request.gpu_milli));
  }
  if (gpus > 0) cpu_milli_of_a_gpu_ = cores / gpus;
  std::sort(levels_.begin(), levels_.end());
  levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
  ALMANAC_CHECK(levels_.size() <= kWhole + 1, "{} parts of a GPU", levels_.size());
  for (const Kind& kind : kinds_) {
    const auto level = std::lower_bound(levels_.begin(), levels_.end(), kind.request.gpu_milli);
    rows_.push_back({kind.request.cpu_milli, kind.frequency, kind.request.models,
                     static_cast<std::int16_t>(kind.request.gpus),
                     static_cast<std::int16_t>(level - levels_.begin())});
  }
}

void Tally::add(const Pod& pod) {
  const Request& asked = pod.request;
  auto& [count, models] = counts_[{asked.cpu_milli, asked.gpu_milli, asked.gpus, pod.models}];
  ++count;
  models = asked.models;
  ++pods_;
}

Mix Tally::mix(double part) const {
  std::vector<std::pair<std::int64_t, const Key*>> order;
  for (const auto& [key, value] : counts_) order.emplace_back(value.first, &key);
  std::sort(order.begin(), order.end(), [](const auto& one, const auto& other) {
    return std::tie(one.first, *one.second) > std::tie(other.first, *other.second);
  });
  const auto all = static_cast<double>(pods_);
  std::vector<Mix::Kind> kinds;
  std::int64_t taken = 0;
  for (const auto& [count, key] : order) {
    if (static_cast<double>(taken) >= part * all) break;
    taken += count;
    const auto& [cpu_milli, gpu_milli, gpus, models] = *key;
    kinds.push_back({{cpu_milli, 0, gpus, gpu_milli, counts_.at(*key).second},
                     static_cast<double>(count),
                     models});
  }
  // The published program divides twice, and zero differences of fragments hang on the last bit.
  for (Mix::Kind& kind : kinds) {
    kind.frequency = kind.frequency / all / (static_cast<double>(taken) / all);
  }
  return Mix(std::move(kinds));
}

Mix mix_of(std::span<const Pod> pods) {
  Tally tally;
  for (const Pod& pod : pods) tally.add(pod);
  return tally.mix();
}

double Mix::unusable(const NodeImage& node) const {
  // What is left on GPUs that have less than a level, and how many have no less.
  std::array<std::int32_t, kWhole + 1> below;
  std::array<std::int32_t, kWhole + 1> enough;
  std::int32_t total = 0;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    total += node.free_milli[static_cast<std::size_t>(gpu)];
  }
  if (total == 0) return 0;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    std::int32_t sum = 0;
    std::int32_t count = 0;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      const std::int32_t milli = node.free_milli[static_cast<std::size_t>(gpu)];
      const bool less = milli < levels_[level];
      sum += less ? milli : 0;
      count += less ? 0 : 1;
    }
    below[level] = sum;
    enough[level] = count;
  }
  std::array<double, kWhys> sums{};
  for (const Row& row : rows_) {
    const auto level = static_cast<std::size_t>(row.level);
    const bool cores = node.cpu_milli >= row.cpu_milli;
    std::int32_t amount = total;
    Why why = q2;
    if (row.gpus == 0) {
      why = cores ? xl : xr;
    } else if ((node.model & row.models) == 0) {
      why = na;
    } else if (enough[level] < row.gpus) {
      why = cores ? q2 : q1;
    } else if (!cores) {
      why = q4;
    } else {
      amount = below[level];
    }
    sums[why] += row.frequency * amount;
  }
  double unusable = 0;
  for (const double sum : sums) unusable += sum;
  return unusable;
}

}  // namespace almanac::fragment
