// SPDX-License-Identifier: Apache-2.0

/// \file
/// Dorm: elastic jobs get equal shares of GPUs, cores and memory, but only a few of them change at
/// a time. The share of a job is the largest fraction of a resource that it has; cores and memory
/// count if the cluster has them.
///
/// In a reallocation, no GPU stays idle that a job could use. Jobs that run keep what they hold
/// while the shares differ little from equal ones: by at most `unfairness` in sum. If they differ
/// more, if a job waits, or if GPUs are idle, the jobs furthest from their equal share
/// change, but at most the fraction `changed` of those that run, rounded up. If a job with an equal
/// share then finds no GPUs, the running jobs that change keep at most their equal share or their
/// minimum, so that GPUs collect for it from one reallocation to the next.
///
/// Source   Sun et al., CLUSTER'17 (Dorm): most utilization, subject to bounds on the loss of
///          fairness and on the number of applications that are adjusted.
/// Differs  The paper solves a mixed-integer program; here the jobs that change are chosen
///          greedily. Cores and memory that other running jobs leave count by the sum over nodes,
///          not on each. Running jobs keep their minimum, so the wait of a wide job has no bound
///          while narrow jobs keep coming.
/// Cost     O(jobs^2 x GPUs) per reallocation
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

constexpr double kRounding = 1e-9;

class Dorm final : public ElasticAllocator {
 public:
  Dorm(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_job),
        unfairness_(told.number("unfairness")),
        changed_(told.number("changed")) {}

 private:
  using Counts = std::vector<int>;        // GPUs by job
  using Amounts = std::array<double, 3>;  // GPUs, cores in thousandths, memory in MB

  /// What is divided, and what a GPU of each job takes of it.
  struct Case {
    std::span<const Elastic> jobs{};
    Amounts all{};
    std::vector<Amounts> need{};  // by job
    std::vector<double> share{};  // by job: the largest fraction of all that a GPU takes
    Counts limit{};               // by job
  };

  /// What other jobs hold is not divided.
  static Case case_of(std::span<const Elastic> jobs, const Room& room, const View& view,
                      const cluster::Ledger& ledger) {
    Case made{.jobs = jobs, .all = {static_cast<double>(room.gpus), 0, 0}};
    for (const NodeGpus& each : room.nodes) {
      const cluster::Cluster& cluster = view.cluster;
      const auto& node = cluster.classes[cluster.nodes[index(each.node)].node_class];
      constexpr double kUnknown = std::numeric_limits<double>::infinity();
      const cluster::Amount free = ledger.room(each.node);
      made.all[1] += node.cpus > 0 ? free.cpu_milli : kUnknown;
      made.all[2] += node.memory_gb > 0 ? free.memory_mb : kUnknown;
    }
    for (const Elastic& job : jobs) {
      if (job.held_gpus == 0) continue;
      for (const cluster::Grant& grant : view.grants(job.job)) {
        const auto is_its = [&](const NodeGpus& each) { return each.node == grant.node; };
        if (std::none_of(room.nodes.begin(), room.nodes.end(), is_its)) continue;
        made.all[1] += grant.cpu_milli;
        made.all[2] += grant.memory_mb;
      }
    }
    for (std::size_t at = 1; at < made.all.size(); ++at) {
      made.all[at] = std::max(made.all[at], 1.0);  // of which fractions are taken
    }
    for (const Elastic& job : jobs) {
      const cluster::Amount one = asked(job.job, view).of(1);
      const Amounts need{1, static_cast<double>(one.cpu_milli), static_cast<double>(one.memory_mb)};
      double share = 0;
      for (std::size_t at = 0; at < need.size(); ++at) {
        share = std::max(share, need[at] / made.all[at]);
      }
      made.need.push_back(need);
      made.share.push_back(share);
      made.limit.push_back(job.most);
    }
    return made;
  }

  void deal_types(VcId vc, std::span<const Elastic> jobs, std::span<const Room> rooms,
                  const View& view, const cluster::Ledger& ledger,
                  std::vector<Wish>& wishes) override {
    ledger_ = &ledger;
    ElasticAllocator::deal_types(vc, jobs, rooms, view, ledger, wishes);
    ledger_ = nullptr;
  }

  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    Case all_of = case_of(jobs, room, view, *ledger_);
    std::vector<std::size_t> all(jobs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const Counts equal = level(all_of, all, all_of.all);

    std::vector<std::size_t> open;  // jobs whose GPUs may change
    std::vector<std::size_t> running;
    Amounts left = all_of.all;
    for (const std::size_t at : all) {
      (jobs[at].held_gpus > 0 ? running : open).push_back(at);
      add(left, all_of.need[at], -jobs[at].held_gpus);
    }
    const auto distance = [&](std::size_t at) {
      return all_of.share[at] * std::abs(jobs[at].held_gpus - equal[at]);
    };
    std::stable_sort(running.begin(), running.end(),
                     [&](std::size_t a, std::size_t b) { return distance(a) > distance(b); });
    const auto most =
        static_cast<std::size_t>(std::ceil(changed_ * static_cast<double>(running.size())));
    Counts dealt = deal_open(all_of, open, left);
    for (std::size_t next = 0; next < most && !suffices(all_of, dealt, equal); ++next) {
      open.push_back(running[next]);
      add(left, all_of.need[running[next]], jobs[running[next]].held_gpus);
      dealt = deal_open(all_of, open, left);
    }
    const auto lacks = [&](std::size_t at) { return dealt[at] == 0 && equal[at] > 0; };
    if (std::any_of(all.begin(), all.end(), lacks)) {
      for (const std::size_t at : running) all_of.limit[at] = std::max(jobs[at].least, equal[at]);
      const Counts before = std::exchange(dealt, deal_open(all_of, open, left));
      if (dealt != before) deal_by(view.now + every(), view);
    }
    for (const std::size_t at : all) {
      if (dealt[at] > 0) wishes.push_back(wish_of(jobs[at], dealt[at], room));
    }
  }

  static void add(Amounts& sum, const Amounts& each, int times) {
    for (std::size_t at = 0; at < sum.size(); ++at) sum[at] += each[at] * times;
  }
  static bool fits(const Amounts& left, const Amounts& each, int times) {
    for (std::size_t at = 0; at < left.size(); ++at) {
      if (each[at] * times > left[at] + kRounding) return false;
    }
    return true;
  }

  /// Returns what each job has if the `open` ones share `left` and the others keep what they hold.
  static Counts deal_open(const Case& all_of, std::vector<std::size_t> open, const Amounts& left) {
    std::sort(open.begin(), open.end());
    Counts dealt = level(all_of, open, left);
    for (std::size_t at = 0; at < all_of.jobs.size(); ++at) {
      if (!std::binary_search(open.begin(), open.end(), at)) dealt[at] = all_of.jobs[at].held_gpus;
    }
    return dealt;
  }

  /// Whether every job has GPUs, nothing is idle for want of a change, and the shares are fair
  /// enough.
  bool suffices(const Case& all_of, const Counts& dealt, const Counts& equal) const {
    double off = 0;
    Amounts used{};
    Amounts usable{};
    for (std::size_t at = 0; at < dealt.size(); ++at) {
      if (dealt[at] == 0 && equal[at] > 0) return false;
      off += all_of.share[at] * std::abs(dealt[at] - equal[at]);
      add(used, all_of.need[at], dealt[at]);
      add(usable, all_of.need[at], equal[at]);
    }
    double idle = 0;  // fractions of all resources that another deal would use
    for (std::size_t at = 0; at < used.size(); ++at)
      idle += (usable[at] - used[at]) / all_of.all[at];
    return idle <= kRounding && off <= unfairness_ + kRounding;
  }

  /// Returns equal shares of `left` for the jobs at `these`, up to their limits: one GPU at a time,
  /// with its cores and memory, to the job with the smallest share for which they are left. A job
  /// for which its minimum is not left gets none.
  static Counts level(const Case& all_of, std::span<const std::size_t> these, Amounts left) {
    Counts made(all_of.jobs.size(), 0);
    for (const std::size_t at : these) {
      const int least = all_of.jobs[at].least;
      if (!fits(left, all_of.need[at], least)) continue;
      made[at] = least;
      add(left, all_of.need[at], -least);
    }
    for (;;) {
      std::size_t poorest = made.size();
      for (const std::size_t at : these) {
        if (made[at] == 0 || made[at] >= all_of.limit[at]) continue;
        if (!fits(left, all_of.need[at], 1)) continue;
        const bool is_poorer = poorest == made.size() ||
                               made[at] * all_of.share[at] < made[poorest] * all_of.share[poorest];
        if (is_poorer) poorest = at;
      }
      if (poorest == made.size()) break;
      ++made[poorest];
      add(left, all_of.need[poorest], -1);
    }
    return made;
  }

  double unfairness_;
  double changed_;
  const cluster::Ledger* ledger_ = nullptr;  // while GPUs are dealt
};

}  // namespace

void register_dorm(Registry& registry) {
  registry.wholes.add(
      {.name = "dorm",
       .summary =
           "elastic: equal shares of GPUs, cores and memory, with few jobs changed at a time",
       .source = "Sun et al. CLUSTER'17 (Dorm)",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("every_s", "shortest time between two reallocations", 60, 1, 1e6),
                      number("unfairness",
                             "sum of differences from equal shares that is left as it is, shares "
                             "as fractions of all",
                             0.2, 0, 2),
                      number("changed", "fraction of the running jobs that may change", 0.2, 0,
                             1)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Dorm>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
