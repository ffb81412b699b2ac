// SPDX-License-Identifier: Apache-2.0

#include "deployment/herd.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace almanac::deployment {
namespace {

constexpr std::size_t kEnumerated = 8;
constexpr double kRounding = 1e-9;

using Grouping = std::vector<std::vector<std::size_t>>;  // variants

class Herd {
 public:
  explicit Herd(const PlaceCase& asked) : asked_(asked) {
    for (std::size_t each = 0; each < asked.variants.size(); ++each) {
      if (asked.loads[each] > 0) used_.push_back(each);
    }
    std::stable_sort(used_.begin(), used_.end(), [&](std::size_t a, std::size_t b) {
      return asked_.loads[a] > asked_.loads[b];
    });
  }

  Result<std::vector<HerdGroup>> best() {
    for (const std::size_t each : used_) {
      const Variant& it = asked_.variants[each];
      if (it.memory_gib <= asked_.gib) continue;
      return fail(Code::unavailable,
                  fmt::format("{} needs {:.4g} GiB, more than a GPU has", it.name, it.memory_gib));
    }
    if (used_.size() <= kEnumerated) {
      enumerate(0, {});
    } else {
      climb();
    }
    if (found_ || used_.empty()) return std::move(best_);
    const std::string gpus = fmt::format("{} GPUs of {:.4g} GiB", asked_.gpus, asked_.gib);
    return fail(Code::unavailable,
                used_.size() <= kEnumerated ? gpus + " do not hold all variants"
                                            : "found no grouping that fits " + gpus,
                {}, "use more GPUs");
  }

 private:
  using Value = std::tuple<double, double, double>;  // tolerance, -groups, -memory

  double memory(const std::vector<std::size_t>& group) const {
    double sum = 0;
    for (const std::size_t each : group) sum += asked_.variants[each].memory_gib;
    return sum;
  }
  double load(const std::vector<std::size_t>& group) const {
    double sum = 0;
    for (const std::size_t each : group) sum += asked_.loads[each];
    return sum;
  }
  /// Each further GPU goes to the group with the least tolerance, which is best for the least.
  std::vector<int> sizes(const Grouping& groups) const {
    std::vector<int> made(groups.size(), 1);
    for (int left = asked_.gpus - static_cast<int>(groups.size()); left > 0; --left) {
      std::size_t least = 0;
      for (std::size_t each = 1; each < groups.size(); ++each) {
        if (made[each] / load(groups[each]) < made[least] / load(groups[least])) least = each;
      }
      ++made[least];
    }
    return made;
  }
  /// Nothing if there are more groups than GPUs.
  std::optional<Value> value(const Grouping& groups) const {
    if (groups.size() > static_cast<std::size_t>(asked_.gpus)) return std::nullopt;
    const auto gpus = sizes(groups);
    double least = std::numeric_limits<double>::infinity(), held = 0;
    for (std::size_t each = 0; each < groups.size(); ++each) {
      least = std::min(least, gpus[each] / load(groups[each]));
      held += gpus[each] * memory(groups[each]);
    }
    return Value{least, -static_cast<double>(groups.size()), -held};
  }
  static bool is_better(const Value& a, const Value& b) {
    if (std::get<0>(a) > std::get<0>(b) * (1 + kRounding)) return true;
    if (std::get<0>(b) > std::get<0>(a) * (1 + kRounding)) return false;
    return std::pair(std::get<1>(a), std::get<2>(a)) > std::pair(std::get<1>(b), std::get<2>(b));
  }
  bool consider(const Grouping& groups) {
    const auto its = value(groups);
    if (!its || (found_ && !is_better(*its, value_))) return false;
    found_ = true;
    value_ = *its;
    grouping_ = groups;
    const auto gpus = sizes(groups);
    best_.clear();
    for (std::size_t each = 0; each < groups.size(); ++each) {
      best_.push_back({groups[each], gpus[each]});
    }
    return true;
  }

  /// Puts the variants from `next` on into each group, or into one of their own.
  void enumerate(std::size_t next, Grouping groups) {
    if (next == used_.size()) {
      if (!groups.empty()) consider(groups);
      return;
    }
    for (std::size_t each = 0; each < groups.size(); ++each) {
      groups[each].push_back(used_[next]);
      if (memory(groups[each]) <= asked_.gib) enumerate(next + 1, groups);
      groups[each].pop_back();
    }
    groups.push_back({used_[next]});
    enumerate(next + 1, std::move(groups));
  }

  Grouping first_fit(const std::vector<std::size_t>& order) const {
    Grouping groups;
    for (const std::size_t each : order) {
      const auto fits = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        return memory(group) + asked_.variants[each].memory_gib <= asked_.gib;
      });
      if (fits == groups.end()) {
        groups.push_back({each});
      } else {
        fits->push_back(each);
      }
    }
    return groups;
  }

  void climb() {
    consider(first_fit(used_));
    if (!found_) {
      std::vector<std::size_t> by_memory = used_;
      std::stable_sort(by_memory.begin(), by_memory.end(), [&](std::size_t a, std::size_t b) {
        return asked_.variants[a].memory_gib > asked_.variants[b].memory_gib;
      });
      consider(first_fit(by_memory));
    }
    for (bool moved = found_; moved;) {
      moved = false;
      for (const std::size_t each : used_) {
        for (std::size_t to = 0; to <= grouping_.size() && !moved; ++to) {
          Grouping next = grouping_;
          for (auto& group : next) std::erase(group, each);
          if (to == next.size()) next.emplace_back();
          next[to].push_back(each);
          if (memory(next[to]) > asked_.gib) continue;
          std::erase_if(next, [](const auto& group) { return group.empty(); });
          moved = consider(next);
        }
      }
    }
  }

  const PlaceCase& asked_;
  std::vector<std::size_t> used_;  // variants with load, the largest first
  bool found_ = false;
  Value value_{};
  Grouping grouping_;
  std::vector<HerdGroup> best_;
};

}  // namespace

Result<std::vector<HerdGroup>> herd(const PlaceCase& asked) { return Herd(asked).best(); }

}  // namespace almanac::deployment
