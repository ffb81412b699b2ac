// SPDX-License-Identifier: Apache-2.0

#include "deployment/planner/inferline/envelope.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "deployment/pipeline.h"

namespace almanac::deployment::planner {
namespace {

constexpr double kRequests = 3000;
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

class PipelineTuner {
 public:
  PipelineTuner(const PlanningCase& planned, const Deployment& plan, std::size_t root)
      : root_(root) {
    const double rate = planned.services[root].rate;
    std::vector<TaskService> alone;
    std::map<std::size_t, double> path_ms;
    double time_ms = 0;
    for (const std::size_t service : pipeline_of(planned.services, root)) {
      if (service == root) alone.push_back(planned.services[service]);
      StagePlan stage{.service = service, .scale = planned.services[service].rate / rate};
      int copies = 0;
      for (const Instance& each : plan.instances) {
        if (each.service != service) continue;
        stage.copy = each;
        ++copies;
      }
      const Variant& variant = planned.variants[stage.copy.variant];
      const double slower = planned.fleet.beside;
      stage.throughput =
          deployment::throughput(variant, stage.copy.share, stage.copy.batch, slower);
      stage.utilization = std::min(1.0, rate * stage.scale / (stage.throughput * copies));
      const auto& before = planned.services[service].after;
      path_ms[service] = (before ? path_ms[*before] : 0) +
                         slower * variant.batch_ms(stage.copy.batch, stage.copy.share);
      time_ms = std::max(time_ms, path_ms[service]);
      stages_.push_back(stage);
    }
    std::vector<double> sample_ms;
    for (const TaskArrival& each : sample_of(alone, planned.seed)) sample_ms.push_back(each.at_ms);
    for (double window_ms = time_ms; window_ms <= kLongestMs; window_ms *= 2) {
      // A sample that is shorter than the window has its mean rate all the time.
      const auto most = static_cast<double>(most_within(sample_ms, window_ms, 0));
      windows_.push_back({window_ms, std::max(most, rate * window_ms / 1000)});
    }
  }

  std::size_t root() const { return root_; }

  /// Changes the copies in `running`; returns whether any.
  bool tune(const PlanningCase& asked, std::span<const double> past_ms, double now_ms,
            Deployment& running) {
    if (!changed_ms_) changed_ms_ = now_ms - kLookMs;  // the plan
    double rate = 0;
    for (const auto& [window_ms, planned] : windows_) {
      const auto live = static_cast<double>(most_within(past_ms, window_ms, now_ms - kLookMs));
      if (live > planned) rate = std::max(rate, 1000 * live / window_ms);
    }
    bool any = rate > 0 && resize(asked, rate, true, running);
    if (!any && now_ms - *changed_ms_ >= kCalmMs) {
      const auto most = static_cast<double>(
          most_within(past_ms, kDownWindowMs, now_ms - kDownPastMs + kDownWindowMs));
      any = resize(asked, std::max(rate, 1000 * most / kDownWindowMs), false, running);
    }
    if (any) changed_ms_ = now_ms;
    return any;
  }

 private:
  struct Window {
    double length_ms = 0;
    double most = 0;  // requests in it, as planned
  };

  bool resize(const PlanningCase& asked, double rate, bool up, Deployment& running) const {
    bool any = false;
    for (const StagePlan& stage : stages_) {
      const double needed = rate * stage.scale / (stage.throughput * stage.utilization);
      const int wanted = std::max(1, static_cast<int>(std::ceil(needed - 1e-9)));
      const auto copies = static_cast<int>(
          std::count_if(running.instances.begin(), running.instances.end(),
                        [&](const Instance& each) { return each.service == stage.service; }));
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
  std::vector<Window> windows_;
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
