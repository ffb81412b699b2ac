// SPDX-License-Identifier: Apache-2.0

#include "deployment/planner/inferline/envelope.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <boost/math/distributions/poisson.hpp>

#include "deployment/pipeline.h"
#include "deployment/replay.h"

namespace almanac::deployment::planner {
namespace {

constexpr double kRequests = 3000;
constexpr double kPrecision = 1.01;    // of the rate that a plan bears
constexpr double kExceededMs = 3.6e8;  // 100 hours
constexpr double kLongestMs = 60'000;
constexpr double kLookMs = 1000;
constexpr double kCalmMs = 15'000;
constexpr double kDownWindowMs = 5000;
constexpr double kDownPastMs = 30'000;

/// Returns the most requests in a window of this length that ends after `after_ms`.
std::size_t most_within(std::span<const double> at_ms, double window_ms, double after_ms) {
  auto last = std::lower_bound(at_ms.begin(), at_ms.end(), after_ms);
  if (last == at_ms.end()) return 0;
  auto first = std::upper_bound(at_ms.begin(), last, *last - window_ms);
  std::ptrdiff_t most = 0;
  for (; last != at_ms.end(); ++last) {
    while (*first <= *last - window_ms) ++first;
    most = std::max(most, last - first + 1);
  }
  return static_cast<std::size_t>(most);
}

/// Copies of one stage, as planned.
struct StagePlan {
  std::size_t service = 0;
  Instance copy{};
  double scale = 1;       ///< Requests for each of a client.
  double throughput = 0;  ///< Of a copy, a second.
  double utilization = 1;
};

/// Returns the most requests in a window if requests come at random, `rate` a second: disjoint
/// windows of the length have more once in kExceededMs. More than 0.
double most_at_random(double rate, double window_ms) {
  using boost::math::complement;
  const boost::math::poisson count(rate * window_ms / 1000);
  return quantile(complement(count, window_ms / kExceededMs));
}

/// The highest rate of clients at which a replay of the plan has p99 within the objective; at least
/// `rate`, for which it was made, and at most `most`.
double borne_rate(const PlanningCase& planned, const Deployment& plan, std::size_t root,
                  double rate, double most) {
  std::vector<TaskService> alone{planned.services[root]};
  const auto sample = sample_of(alone, planned.seed);
  const auto is_borne = [&](double tried) {
    std::vector<TaskArrival> arrivals = sample;
    for (TaskArrival& each : arrivals) each = {each.at_ms * rate / tried, root};
    return play_deployment(planned, plan, arrivals).in_time(root) >= kInTime;
  };
  double low = rate, high = std::max(rate, most);
  while (high > low * kPrecision) {
    const double middle = (low + high) / 2;
    (is_borne(middle) ? low : high) = middle;
  }
  return low;
}

class PipelineTuner {
 public:
  PipelineTuner(const PlanningCase& planned, const Deployment& plan, std::size_t root)
      : root_(root) {
    const double rate = planned.services[root].rate;
    std::map<std::size_t, double> path_ms;
    double most = std::numeric_limits<double>::infinity();
    for (const std::size_t service : pipeline_of(planned.services, root)) {
      StagePlan stage{.service = service, .scale = planned.services[service].rate / rate};
      for (const Instance& each : plan.instances) {
        if (each.service == service) stage.copy = each;
      }
      const Variant& variant = planned.variants[stage.copy.variant];
      const double slower = planned.fleet.beside;
      stage.throughput =
          deployment::throughput(variant, stage.copy.share, stage.copy.batch, slower);
      const auto& before = planned.services[service].after;
      path_ms[service] = (before ? path_ms[*before] : 0) +
                         slower * variant.batch_ms(stage.copy.batch, stage.copy.share);
      time_ms_ = std::max(time_ms_, path_ms[service]);
      const double answers = copies_of(stage, plan) * stage.throughput;
      most = std::min(most, kMostUtilization * answers / stage.scale);
      stages_.push_back(stage);
    }
    planned_rate_ = borne_rate(planned, plan, root, rate, most);
    for (StagePlan& stage : stages_) {
      stage.utilization =
          std::min(1.0, planned_rate_ * stage.scale / (stage.throughput * copies_of(stage, plan)));
    }
  }

  std::size_t root() const { return root_; }

  /// Changes the copies in `running`; returns whether any.
  bool tune(const PlanningCase& asked, std::span<const double> past_ms, double now_ms,
            Deployment& running) {
    if (!changed_ms_) changed_ms_ = now_ms - kLookMs;  // the plan
    const double borne = rate_of(running);
    double rate = 0;
    for (double window_ms = time_ms_; window_ms <= kLongestMs; window_ms *= 2) {
      const auto live = static_cast<double>(most_within(past_ms, window_ms, now_ms - kLookMs));
      if (live > most_at_random(borne, window_ms)) rate = std::max(rate, 1000 * live / window_ms);
    }
    bool any = rate > 0 && resize(asked, rate, true, running);
    if (!any && now_ms - *changed_ms_ >= kCalmMs) {
      const auto most = static_cast<double>(
          most_within(past_ms, kDownWindowMs, now_ms - kDownPastMs + kDownWindowMs));
      double calm = 1000 * most / kDownWindowMs;
      if (most <= most_at_random(planned_rate_, kDownWindowMs)) {
        calm = std::min(calm, planned_rate_);
      }
      any = resize(asked, std::max(rate, calm), false, running);
    }
    if (any) changed_ms_ = now_ms;
    return any;
  }

 private:
  static int copies_of(const StagePlan& stage, const Deployment& deployment) {
    const auto& all = deployment.instances;
    return static_cast<int>(std::count_if(
        all.begin(), all.end(), [&](const auto& each) { return each.service == stage.service; }));
  }

  /// The rate of clients that the copies of `running` bear at the planned utilization.
  double rate_of(const Deployment& running) const {
    double least = std::numeric_limits<double>::infinity();
    for (const StagePlan& stage : stages_) {
      const double answers = copies_of(stage, running) * stage.throughput * stage.utilization;
      least = std::min(least, answers / stage.scale);
    }
    return least;
  }

  bool resize(const PlanningCase& asked, double rate, bool up, Deployment& running) const {
    bool any = false;
    for (const StagePlan& stage : stages_) {
      const double needed = rate * stage.scale / (stage.throughput * stage.utilization);
      const int wanted = std::max(1, static_cast<int>(std::ceil(needed - 1e-9)));
      const int copies = copies_of(stage, running);
      if (up && wanted > copies) any = add(asked, stage, wanted - copies, running) || any;
      if (!up && wanted < copies) {
        remove(stage, copies - wanted, running);
        any = true;
      }
    }
    return any;
  }

  static bool add(const PlanningCase& asked, const StagePlan& stage, int copies,
                  Deployment& running) {
    while (copies > 0 && !add_by_best_fit(asked, stage.copy, copies, running)) --copies;
    return copies > 0;
  }

  /// Removes copies from the GPUs that are used least, so that GPUs become free.
  static void remove(const StagePlan& stage, int copies, Deployment& running) {
    auto& all = running.instances;
    for (; copies > 0; --copies) {
      std::map<int, double> shares;
      for (const Instance& each : all) shares[each.gpu] += each.share;
      auto least = all.end();
      for (auto each = all.begin(); each != all.end(); ++each) {
        if (each->service != stage.service) continue;
        if (least == all.end() || shares[each->gpu] <= shares[least->gpu]) least = each;
      }
      all.erase(least);
    }
  }

  std::size_t root_;
  std::vector<StagePlan> stages_;
  double time_ms_ = 0;       // of a request in the pipeline
  double planned_rate_ = 0;  // of clients, which the plan bears
  std::optional<double> changed_ms_;
};

class EnvelopeTuner final : public Tuner {
 public:
  EnvelopeTuner(const PlanningCase& planned, const Deployment& plan) {
    for (std::size_t each = 0; each < planned.services.size(); ++each) {
      if (!planned.services[each].after) pipelines_.emplace_back(planned, plan, each);
    }
  }

  std::optional<Deployment> tune(const PlanningCase& asked, const Deployment& running,
                                 const std::vector<std::span<const double>>& past_ms,
                                 double now_ms) override {
    Deployment made = running;
    bool any = false;
    for (PipelineTuner& each : pipelines_) {
      any = each.tune(asked, past_ms[each.root()], now_ms, made) || any;
    }
    if (!any) return std::nullopt;
    return made;
  }

 private:
  std::vector<PipelineTuner> pipelines_;
};

}  // namespace

std::vector<TaskArrival> sample_of(const std::vector<TaskService>& pipeline, std::uint64_t seed) {
  return poisson_arrivals(pipeline, kRequests / pipeline.front().rate, seed);
}

std::unique_ptr<Tuner> make_envelope_tuner(const PlanningCase& planned, const Deployment& plan) {
  return std::make_unique<EnvelopeTuner>(planned, plan);
}

}  // namespace almanac::deployment::planner
