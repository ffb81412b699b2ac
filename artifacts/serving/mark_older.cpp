// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "serving/mark.h"

namespace almanac::serving {
namespace {

constexpr std::size_t kPlanned = 3;  // minutes
constexpr double kSecondsPerMinute = 60;

/// Minutes from `begin` on, before `end`, which may come before it.
struct Stretch {
  std::size_t begin = 0, end = 0;
  std::size_t minutes() const { return end > begin ? end - begin : 0; }
  double seconds() const {
    return std::max(kSecondsPerMinute, static_cast<double>(end) * kSecondsPerMinute);
  }
};

class OlderPlanner {
 public:
  OlderPlanner(const std::vector<MarkInstance>& instances, const std::vector<int>& current,
               const std::vector<double>& forecast)
      : instances_(instances), forecast_(forecast), plan_(forecast.size(), current) {}

  OlderMarkPlan run() {
    for (std::size_t minute = 0; minute < kPlanned;) {
      double capacity = 0;
      for (std::size_t type = 0; type < instances_.size(); ++type) {
        capacity += instances_[type].capacity * plan_[minute][type];
      }
      left_ = forecast_;
      for (double& each : left_) each -= capacity;
      const bool lacks = left_[minute] >= 0;
      std::size_t length = 0;
      while (minute + length < left_.size() && (left_[minute + length] >= 0) == lacks) ++length;
      lacks ? fill({minute, length}) : end({minute, length});
      minute += length;
    }
    return {plan_[0], plan_[kPlanned - 1]};
  }

 private:
  /// One instance of the type that serves a request at the least cost, and again.
  void fill(Stretch where) {
    while (const auto type = cheapest(where)) {
      change(where, *type, 1);
      const auto next = beyond(where, [](double each) { return each > 0; });
      if (!next || left_[kPlanned - 1] < 0) return;
      where = *next;
    }
  }

  /// One instance fewer of the type that serves a request at the highest cost, and again.
  void end(Stretch where) {
    while (const auto type = dearest(where)) {
      change(where, *type, -1);
      const auto next = beyond(where, [](double each) { return each < 0; });
      if (!next) return;
      where = *next;
    }
  }

  void change(const Stretch& where, std::size_t type, int by) {
    for (std::size_t each = where.begin; each < where.end; ++each) plan_[each][type] += by;
    for (double& each : left_) each -= by * instances_[type].capacity;
  }

  /// From the first minute of all for which `is_one` holds, counted from the begin of `where`, to
  /// the last.
  template <typename IsOne>
  std::optional<Stretch> beyond(const Stretch& where, const IsOne& is_one) const {
    const auto first = std::find_if(left_.begin(), left_.end(), is_one);
    if (first == left_.end()) return std::nullopt;
    const auto last = std::find_if(left_.rbegin(), left_.rend(), is_one);
    return Stretch{where.begin + static_cast<std::size_t>(first - left_.begin()),
                   static_cast<std::size_t>(left_.rend() - last)};
  }

  std::optional<std::size_t> cheapest(const Stretch& where) const {
    std::optional<std::size_t> best;
    double least = 1e9;
    for (std::size_t type = 0; type < instances_.size(); ++type) {
      const MarkInstance& it = instances_[type];
      double served = 0;
      for (std::size_t each = where.begin; each < where.end; ++each) {
        if (left_[each] > 0) served += std::min(it.capacity, left_[each]);
      }
      if (served <= 0) continue;
      const double cost = (it.price * where.seconds() + it.launch) / served;
      if (cost > least) continue;
      least = cost;
      best = type;
    }
    return best;
  }

  std::optional<std::size_t> dearest(const Stretch& where) const {
    std::optional<std::size_t> best;
    if (where.minutes() == 0) return best;
    double most = 0;
    const double spare = -*std::max_element(left_.begin(), left_.end());
    for (std::size_t type = 0; type < instances_.size(); ++type) {
      const MarkInstance& it = instances_[type];
      if (plan_[where.begin][type] <= 0 || spare < it.capacity || it.capacity <= 0) continue;
      const double cost =
          it.price * where.seconds() / (it.capacity * static_cast<double>(where.minutes()));
      if (cost < most) continue;
      most = cost;
      best = type;
    }
    return best;
  }

  const std::vector<MarkInstance>& instances_;
  const std::vector<double>& forecast_;
  std::vector<std::vector<int>> plan_;  // by minute, then type
  std::vector<double> left_;            // of the forecast, minute by minute
};

}  // namespace

OlderMarkPlan plan_older_mark(const std::vector<MarkInstance>& instances,
                              const std::vector<int>& current,
                              const std::vector<double>& forecast) {
  ALMANAC_CHECK(forecast.size() >= kPlanned && current.size() == instances.size(),
                "{} minutes and {} types of {}", forecast.size(), current.size(), instances.size());
  return OlderPlanner(instances, current, forecast).run();
}

}  // namespace almanac::serving
