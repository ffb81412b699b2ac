// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

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

/// Means by key, in one array: a look-up touches one cache line, where a chained table touches
/// three. Linear probing, at most half full.
class MeanTable {
 public:
  /// The mean of `key`, empty at first; valid until the next call.
  DecayingMean& operator[](std::uint64_t key) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[position(key)];
    if (slot.mean.empty()) {
      slot.key = key;
      ++size_;
    }
    return slot.mean;
  }
  /// Null = there is none.
  const DecayingMean* find(std::uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[position(key)];
    return slot.mean.empty() ? nullptr : &slot.mean;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    DecayingMean mean;  // empty = nobody's slot: whoever gets one adds to it at once
  };

  /// Where `key` is, or would be put.
  std::size_t position(std::uint64_t key) const {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // Knuth's multiplicative hash
    std::size_t at = key * kGolden >> shift_;
    while (!slots_[at].mean.empty() && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    constexpr std::size_t kFirst = 64;
    std::vector<Slot> old(slots_.empty() ? kFirst : 2 * slots_.size());
    std::swap(old, slots_);
    shift_ = 64 - std::countr_zero(slots_.size());
    for (const Slot& slot : old) {
      if (!slot.mean.empty()) slots_[position(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  int shift_ = 0;
  std::size_t size_ = 0;
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
        const DecayingMean* const same = by_name_.find(pair(user, index(request.name)));
        if (same != nullptr) return same->value();
      }
      const DecayingMean* const own = by_demand_.find(pair(user, gpus));
      if (own != nullptr) return own->value();
    }
    const DecayingMean* const demand = all_by_demand_.find(gpus);
    if (demand != nullptr) return demand->value();
    return all_.empty() ? kUnknown : all_.value();
  }

  double decay_;
  MeanTable by_name_;
  MeanTable by_demand_;
  MeanTable all_by_demand_;
  DecayingMean all_;
};

}  // namespace

std::unique_ptr<Estimator> make_history(double decay) { return std::make_unique<History>(decay); }

}  // namespace almanac::predict
