// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <unordered_map>

#include "predict/estimator.h"

namespace almanac::predict {
namespace {

/// A mean in which each value weighs `decay` times the one after it.
class DecayingMean {
 public:
  void add(double value, double decay) {
    sum_ = sum_ * decay + value;
    weight_ = weight_ * decay + 1;
  }
  bool empty() const { return weight_ == 0; }
  double value() const { return sum_ / weight_; }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

std::uint64_t pair(std::uint64_t high, std::uint64_t low) { return high << 32 | low; }

class History final : public Estimator {
 public:
  explicit History(double decay) : decay_(decay) {}

  Duration estimate(JobId, const trace::Request& request) override {
    return Duration{std::llround(find(request))};
  }

  void learn(const trace::Request& request, Duration ran) override {
    const auto value = static_cast<double>(ran.count());
    const auto user = index(request.user);
    const auto gpus = static_cast<std::uint32_t>(request.gpus);
    if (request.user != kNoName) {
      if (request.name != kNoName) by_name_[pair(user, index(request.name))].add(value, decay_);
      by_demand_[pair(user, gpus)].add(value, 1);
    }
    all_by_demand_[gpus].add(value, 1);
    all_.add(value, 1);
  }

 private:
  double find(const trace::Request& request) const {
    constexpr double kUnknown = 3'600'000;
    const auto user = index(request.user);
    const auto gpus = static_cast<std::uint32_t>(request.gpus);
    if (request.user != kNoName) {
      if (request.name != kNoName) {
        const auto same = by_name_.find(pair(user, index(request.name)));
        if (same != by_name_.end()) return same->second.value();
      }
      const auto own = by_demand_.find(pair(user, gpus));
      if (own != by_demand_.end()) return own->second.value();
    }
    const auto demand = all_by_demand_.find(gpus);
    if (demand != all_by_demand_.end()) return demand->second.value();
    return all_.empty() ? kUnknown : all_.value();
  }

  double decay_;
  std::unordered_map<std::uint64_t, DecayingMean> by_name_;
  std::unordered_map<std::uint64_t, DecayingMean> by_demand_;
  std::unordered_map<std::uint32_t, DecayingMean> all_by_demand_;
  DecayingMean all_;
};

}  // namespace

std::unique_ptr<Estimator> make_history(double decay) { return std::make_unique<History>(decay); }

}  // namespace almanac::predict
