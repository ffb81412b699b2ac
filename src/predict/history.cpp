// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "predict/estimator.h"
#include "predict/mean_table.h"
#include "predict/similar_names.h"

namespace almanac::predict {
namespace {

std::uint64_t pair(std::uint64_t high, std::uint64_t low) { return high << 32 | low; }

class History final : public Estimator {
 public:
  /// `names` null = names match only when they are equal.
  History(double decay, const Names* names) : decay_(decay), names_(names) {}

  Belief estimate(JobId, const trace::Request& request) override {
    return {.run = std::max(Duration{1s}, Duration{std::llround(find(request))})};
  }

  void learn(JobId, const trace::Request& request, const Ended& ended) override {
    const auto value = static_cast<double>(ended.ran.count());
    const auto user = index(request.user);
    const auto gpus = static_cast<std::uint32_t>(request.gpus);
    if (request.user != kNoName) {
      if (request.name != kNoName) {
        DecayingMean& own = by_name_[pair(user, index(request.name))];
        if (own.empty() && names_ != nullptr) remember_name(request);
        own.add(value, decay_);
      }
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
        const DecayingMean* const same = by_name_.find(pair(user, index(request.name)));
        if (same != nullptr) return same->value();
        if (const DecayingMean* const similar = of_similar_name(request)) return similar->value();
      }
      const DecayingMean* const own = by_demand_.find(pair(user, gpus));
      if (own != nullptr) return own->value();
    }
    const DecayingMean* const demand = all_by_demand_.find(gpus);
    if (demand != nullptr) return demand->value();
    return all_.empty() ? kUnknown : all_.value();
  }

  const DecayingMean* of_similar_name(const trace::Request& request) const {
    if (index(request.user) >= own_names_.size()) return nullptr;
    const auto match = own_names_[index(request.user)].nearest((*names_)[request.name]);
    return match ? by_name_.find(pair(index(request.user), match->id)) : nullptr;
  }

  void remember_name(const trace::Request& request) {
    if (index(request.user) >= own_names_.size()) own_names_.resize(index(request.user) + 1);
    own_names_[index(request.user)].add((*names_)[request.name],
                                        static_cast<std::uint32_t>(index(request.name)));
  }

  double decay_;
  const Names* names_;
  std::vector<SimilarNames> own_names_;  // by user
  MeanTable by_name_;
  MeanTable by_demand_;
  MeanTable all_by_demand_;
  DecayingMean all_;
};

}  // namespace

std::unique_ptr<Estimator> make_history(double decay) {
  return std::make_unique<History>(decay, nullptr);
}

std::unique_ptr<Estimator> make_rolling(const Names& names, double decay) {
  return std::make_unique<History>(decay, &names);
}

}  // namespace almanac::predict
