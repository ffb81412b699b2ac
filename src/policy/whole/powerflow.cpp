// SPDX-License-Identifier: Apache-2.0

/// \file
/// PowerFlow: chooses GPUs, in powers of two, and the power limit of each elastic job, so that jobs
/// end soon within a power budget (rules/elastic/power_deal.h). The run's power model gives the
/// effect of a limit on a job; its speed on other GPUs is estimated from its reports. A job has its
/// fewest GPUs until its first report. Without a power model it sets no limits and allocates only
/// GPUs. If not all jobs can run, the shortest do. Remaining times are divided by the square of the
/// remaining time on the fewest GPUs; otherwise the longest jobs would get most.
///
/// Jobs are placed as buddies: the largest first, each on whole nodes or on the fullest node with
/// room, so that powers of two fragment no node. A smaller job moves if a larger one needs its
/// node.
///
/// Source   Gu et al., 2023 (PowerFlow), as far as its abstract describes it.
/// Differs  The weights. A power limit replaces the paper's clock, and reports replace its models.
/// Cost     deal_power() per reallocation: 1 ms with 10 jobs, 140 ms with 60 on 64 GPUs; and a fit
///          per new report
#include <algorithm>

#include "policy/contract/power_limits.h"
#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/power_deal.h"

namespace almanac::policy::whole {
namespace {

constexpr double kHour_s = 3600;  // so that weights are neither very large nor very small

/// A way to run a job with its power limit; the remaining time is weighted.
struct LimitedWay {
  elastic::PowerWay way;
  int power_w = 0;
};

class PowerFlow final : public ElasticAllocator {
 public:
  PowerFlow(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_model),
        part_(told.number("part")) {}

 private:
  void deal(std::span<const Elastic> came, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    const std::vector<Elastic> jobs = shortest_first(came, room);
    const PowerLimits* const limits = view.speeds == nullptr ? nullptr : view.speeds->job_limits();
    std::vector<std::vector<LimitedWay>> limited;
    std::vector<std::vector<elastic::PowerWay>> ways;
    for (const Elastic& job : jobs) {
      limited.push_back(ways_of(job, room, view, limits));
      std::vector<elastic::PowerWay>& own = ways.emplace_back();
      for (const LimitedWay& each : limited.back()) own.push_back(each.way);
    }
    const double gpu_w = limits == nullptr ? 1 : part_ * limits->gpu_w(1, 0);
    const std::vector<int> chosen = elastic::deal_power(ways, room.gpus, room.gpus * gpu_w);
    std::vector<std::pair<Wish, const Elastic*>> dealt;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      if (chosen[at] < 0) continue;
      const LimitedWay& way = limited[at][static_cast<std::size_t>(chosen[at])];
      dealt.emplace_back(wish_of(jobs[at], way.way.gpus, room), &jobs[at]);
      dealt.back().first.config.power_w = way.power_w;
    }
    std::stable_sort(dealt.begin(), dealt.end(),
                     [](const auto& a, const auto& b) { return a.first.gpus > b.first.gpus; });
    std::vector<NodeGpus> free = room.nodes;
    on_.assign(dealt.size(), {});
    for (std::size_t at = 0; at < dealt.size(); ++at) {
      auto& [wish, job] = dealt[at];
      on_[at] =
          buddies(wish.gpus, room.per_node, view.grants(wish.job).first(job->held_nodes), free);
      wish.on = on_[at];
      wishes.push_back(wish);
    }
  }

  /// Sorts jobs by remaining time: if not all get GPUs, the sum of completion times is least if the
  /// shortest do. Jobs without reports come first, because they report within a minute.
  std::vector<Elastic> shortest_first(std::span<const Elastic> came, const Room& room) {
    std::vector<std::pair<double, Elastic>> line;
    for (const Elastic& job : came) {
      const double left_s = samples_left(job) / speed_on_least(job, room);
      const double restart_s = job.held_gpus > 0 ? 0 : job.restart_s;
      line.emplace_back(speeds.knows(job.job) ? left_s + restart_s : 0, job);
    }
    std::stable_sort(line.begin(), line.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Elastic> made;
    for (const auto& [left_s, job] : line) made.push_back(job);
    return made;
  }
  double speed_on_least(const Elastic& job, const Room& room) {
    return std::max(1e-9, speed_on(job, room.nodes_of(job.least), job.least));
  }
  static double samples_left(const Elastic& job) {
    return std::max(0.0, job.told.total - job.told.progress) *
           std::max(1, job.told.batches.initial_batch);
  }

  /// Returns ways by GPUs, then by power limit. A job has at most twice the most GPUs that it has
  /// reported on.
  std::vector<LimitedWay> ways_of(const Elastic& job, const Room& room, const View& view,
                                  const PowerLimits* limits) {
    std::vector<LimitedWay> made;
    const int known = speeds.knows(job.job) ? 2 * speeds.most_gpus(job.job) : 0;
    const int most = std::max(job.least, std::min({room.gpus, job.most, known}));
    int gpus = job.least;
    while (gpus <= most) {
      add_ways(made, job, gpus, room, view, limits);
      int next = trace::size_step(view.request(job.job));
      while (next <= gpus) next *= 2;
      gpus = next;
    }
    return made;
  }

  void add_ways(std::vector<LimitedWay>& made, const Elastic& job, int gpus, const Room& room,
                const View& view, const PowerLimits* limits) {
    const int nodes = room.nodes_of(gpus);
    // The plain sum of the ends would give long jobs most, because they have most to gain. But the
    // GPUs of short jobs are free again sooner.
    const double alone_s = std::max(1.0, samples_left(job) / speed_on_least(job, room));
    const double weight = kHour_s / alone_s * kHour_s / alone_s;
    const double left_s = weight * samples_left(job) / std::max(1e-9, speed_on(job, nodes, gpus));
    const double restart_s = gpus == job.held_gpus ? 0 : weight * job.restart_s;
    if (limits == nullptr) {
      made.push_back({{gpus, static_cast<double>(gpus), left_s + restart_s}});
      return;
    }
    const double use = view.speeds->use(job.job);
    const double computes = computing_part(job, nodes, gpus);
    const std::size_t make = view.cluster.nodes[index(room.nodes.front().node)].node_class;
    const std::vector<int> choices = limits->choices_w();
    for (const int choice : choices) {
      const int power_w = choice == choices.back() ? 0 : choice;
      const double slower = computes / limits->speed(use, make, power_w) + (1 - computes);
      made.push_back(
          {{gpus, gpus * limits->gpu_w(use, power_w), left_s * slower + restart_s}, power_w});
    }
  }

  /// Returns the fraction of a step that a limit slows: all but the exchange.
  double computing_part(const Elastic& job, int nodes, int gpus) {
    if (!speeds.knows(job.job)) return 1;
    elastic::Split split = speeds.best(job.job, nodes, gpus).split;
    if (split.atomic_batch == 0) return 1;
    const double step_s = speeds.step_s(job.job, nodes, gpus, split);
    const int passes = split.accumulations + 1;
    ++split.accumulations;
    const double pass_s = speeds.step_s(job.job, nodes, gpus, split) - step_s;
    return std::clamp(passes * pass_s / step_s, 0.0, 1.0);
  }

  /// Returns nodes for `gpus` GPUs and takes them out of `free`: nodes that the job holds first,
  /// then the fullest. Empty if they do not fit in this way.
  static std::vector<NodeGpus> buddies(int gpus, int per_node, std::span<const cluster::Grant> held,
                                       std::vector<NodeGpus>& free) {
    std::vector<NodeGpus> made;
    const auto holds = [&](NodeId node) {
      return std::any_of(held.begin(), held.end(),
                         [&](const cluster::Grant& grant) { return grant.node == node; });
    };
    const auto before = free;
    for (int left = gpus; left > 0; left -= made.back().gpus) {
      const int here = std::min(left, per_node);
      NodeGpus* best = nullptr;
      for (NodeGpus& each : free) {
        const bool is_taken = std::any_of(made.begin(), made.end(), [&](const NodeGpus& taken) {
          return taken.node == each.node;
        });
        if (each.gpus < here || is_taken) continue;
        const auto rank = [&](const NodeGpus& at) { return std::pair(!holds(at.node), at.gpus); };
        if (best == nullptr || rank(each) < rank(*best)) best = &each;
      }
      if (best == nullptr) {
        free = before;
        return {};
      }
      best->gpus -= here;
      made.push_back({best->node, here});
    }
    return made;
  }

  double part_;
  std::vector<std::vector<NodeGpus>> on_;  // what wishes point to
};

}  // namespace

void register_powerflow(Registry& registry) {
  registry.wholes.add(
      {.name = "powerflow",
       .summary =
           "elastic: GPUs and power limits for the shortest completion times within a power budget",
       .source = "Gu et al. 2023 (PowerFlow)",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus, Trait::limits_power}},
       .parameters =
           {number("part",
                   "power budget, as a fraction of what elastic jobs' GPUs draw at full load", 0.7,
                   0.01, 1),
            number("every_s", "shortest time between two reallocations", 60, 1, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<PowerFlow>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
