// SPDX-License-Identifier: Apache-2.0
#include "service/waits.h"

#include <algorithm>

namespace almanac::service {

void WaitHistogram::add(double wait_s) {
  const auto bound = std::lower_bound(kBounds_s.begin(), kBounds_s.end(), wait_s);
  ++counts[static_cast<std::size_t>(bound - kBounds_s.begin())];
  sum_s += wait_s;
}

std::string_view size_class(int gpus) {
  if (gpus <= 0) return "0";
  if (gpus == 1) return "1";
  if (gpus <= 4) return "2-4";
  if (gpus <= 8) return "5-8";
  return gpus <= 64 ? "9-64" : "65+";
}

void Waits::add(const std::string& partition, const std::string& user, int gpus, Duration wait) {
  const double wait_s = std::max(0.0, seconds(wait));
  const bool has_room = partitions_.size() < kMostPartitions || partitions_.contains(partition);
  if (has_room) partitions_.insert(partition);
  by_place_[{.partition = has_room ? partition : std::string(kOther), .size = size_class(gpus)}]
      .add(wait_s);
  const bool is_known = by_user_.contains(user);
  // One of them may be the shared one already.
  const auto own = by_user_.size() - by_user_.count(std::string(kOther));
  by_user_[is_known || own < kMostUsers ? user : std::string(kOther)].add(wait_s);
  constexpr int kMostGpus = 64;
  ++by_gpus_[std::clamp(gpus, 0, kMostGpus)];
}

}  // namespace almanac::service
