// SPDX-License-Identifier: Apache-2.0

/// \file
/// Replicas for the burstiest part of the last minute, over windows of several lengths.
#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "inference/registry.h"

namespace almanac::inference::scaler {
namespace {

/// Source   Crankshaw et al., SoCC'20 (InferLine), section 5: the traffic envelope is the highest
///          rate over windows that double up to 60 s; replicas = ceil(rate / capacity). Scales down
///          only after 15 s without a change, to the highest rate over 5 s of the last 30 s.
/// Differs  One stage, and no sample to plan from: the shortest window is 5 s, and the planned
///          utilization is 1.
class Inferline final : public Scaler {
 public:
  explicit Inferline(const ScalerCase& told) : capacity_(told.replica_requests_per_s) {}

  int want(Micros now, const Load& load) override {
    seen_.emplace_back(now, load.arrived);
    while (seen_.size() > kLongest + 1) seen_.pop_front();
    double rate = 0;
    // Windows that end now: what ended before was heeded then, and heeding it again would take back
    // each step down.
    for (const std::size_t window : {5, 10, 20, 40, 60}) {
      rate = std::max(rate, greatest_rate(window, window));
    }
    const int present = load.ready + load.starting;
    // A first request has no window yet, and waits if there is no replica.
    const int up = std::max(replicas(rate), load.waiting > 0 ? 1 : 0);
    if (up > present) {
      changed_ = now;
      return up;
    }
    if (now - changed_ < kCalm) return present;
    const int down = std::max(replicas(greatest_rate(5, 30)), load.waiting > 0 ? present : 0);
    if (down >= present) return present;
    changed_ = now;
    return down;
  }
  Micros period() const override { return 1e6; }

 private:
  static constexpr std::size_t kLongest = 60;  // looks, and seconds
  static constexpr Micros kCalm = 15e6;

  int replicas(double rate) const { return static_cast<int>(std::ceil(rate / capacity_ - 1e-9)); }
  /// Returns the highest rate per second over any `window` seconds of the last `within`.
  double greatest_rate(std::size_t window, std::size_t within) const {
    double most = 0;
    const std::size_t first = seen_.size() > within ? seen_.size() - 1 - within : 0;
    for (std::size_t end = first + window; end < seen_.size(); ++end) {
      most = std::max(most, static_cast<double>(seen_[end].second - seen_[end - window].second));
    }
    return most / static_cast<double>(window);
  }

  double capacity_;
  std::deque<std::pair<Micros, std::int64_t>> seen_;
  Micros changed_ = 0;
};

}  // namespace

void register_inferline(Registry& registry) {
  registry.scalers.add(
      {.name = "inferline",
       .summary = "for the burstiest part of the last minute",
       .source = "Crankshaw et al. SoCC'20 §5",
       .make = {[](const ScalerCase& told) { return std::make_unique<Inferline>(told); }, true}});
}

}  // namespace almanac::inference::scaler
