// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cheapest nodes on which jobs end in time, if a node costs its full price while any job runs
/// there. Jobs share nodes that are already paid for, and jobs that can wait do so for a cheap GPU
/// type.
///
/// Places `considered` waiting jobs together, by deadline, then in order of arrival. The next ones
/// follow while any GPU is free. Each job gets a node, and if it is elastic a number of GPUs up to
/// Request::max_gpus, or waits. Branch and bound minimizes the additional cost of nodes plus
/// `late_cost` per second of tardiness. A waiting job is expected to start on its cheapest type
/// once that has enough free GPUs, on nodes of its own. So a job without a deadline waits for the
/// cheapest type only. Running jobs are never stopped or moved. The price of a GPU is the signal
/// `price/TYPE` (kit/prices.h); a node costs as much as all its GPUs.
///
/// Source   Jahani et al., ICCCS'19: capacity of virtual machines and the schedule of jobs with
///          deadlines as one mixed-integer program of costs and tardiness.
/// Differs  Only the paper's abstract was available; the cost of a waiting job is our own. Nodes of
///          a cluster, which may be busy, stand for rented machines. A search ends after
///          kMostPlacings steps, and the best placement so far counts. Jobs that request a part of
///          a GPU, more than a node has, or no GPU get what they request in order of arrival.
/// Cost     kMostPlacings x different nodes x ways (whole/jahani/node_search.h), for each
///          `considered` jobs while GPUs are free
#include <algorithm>
#include <deque>
#include <limits>
#include <map>

#include "policy/kit/allocator.h"
#include "policy/kit/prices.h"
#include "policy/registry.h"
#include "policy/whole/jahani/node_search.h"
#include "trace/sizes.h"

namespace almanac::policy::whole {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr int kMostPlacings = 5'000;

class Jahani final : public Allocator {
 public:
  Jahani(std::unique_ptr<Placement> placement, Host host, const Parameters& told)
      : Allocator(std::move(placement), std::move(host.estimator), std::move(host.type_speeds)),
        late_cost_(told.number("late_cost")),
        considered_(static_cast<std::size_t>(told.whole("considered"))) {}

 private:
  /// When GPUs in use are expected to become free, by type.
  using Ends = std::map<std::uint64_t, std::vector<double>>;

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    on_.clear();
    std::vector<JobId>& line = lines_[vc];
    line.clear();
    std::map<NodeId, double> paid_s;
    Ends ends_s;
    for (const JobId job : jobs) {
      const bool runs = view.progress(job).phase == Phase::running;
      if (!runs && is_given_a_node(job, vc, view, plan.ledger)) {
        line.push_back(job);
        continue;
      }
      wishes.push_back({job});
      const std::uint64_t type = type_held(job, view);
      if (type == 0) continue;
      const double end_s = time_s(job, 0, type, vc, view, plan.ledger);
      for (const cluster::Grant& grant : view.grants(job)) {
        paid_s[grant.node] = std::max(paid_s[grant.node], end_s);
        ends_s[type].insert(ends_s[type].end(), static_cast<std::size_t>(grant.count()), end_s);
      }
    }
    for (auto& [type, ends] : ends_s) std::sort(ends.begin(), ends.end());
    by_deadline(line, view);
    const std::size_t before = plan.ledger.mark();
    NodeSearch search(plan.ledger);
    offer_nodes(search, vc, paid_s, view, plan.ledger);
    for (std::size_t at = 0; at < line.size() && search.any_free(); at += considered_) {
      const auto group = std::span(line).subspan(at, std::min(considered_, line.size() - at));
      std::vector<NodeSearch::Ask> asking;
      for (const JobId job : group) {
        asking.push_back(ways_of(job, vc, ends_s, view, plan.ledger));
      }
      const auto choices = search.place(asking, kMostPlacings);
      for (std::size_t it = 0; it < group.size(); ++it) {
        const auto [node, gpus] = choices[it];
        if (gpus == 0) continue;
        on_.push_back({node, gpus});
        wishes.push_back({.job = group[it], .gpus = gpus, .on = {&on_.back(), 1}});
      }
    }
    plan.ledger.undo(before);
  }

  /// Whether the search places the job. Other jobs get what they request in order of arrival.
  static bool is_given_a_node(JobId job, VcId vc, const View& view, const cluster::Ledger& ledger) {
    const cluster::Demand& demand = asked(job, view);
    const auto pools = ledger.pools(vc);
    return !demand.is_cpu_job() && !demand.is_part() &&
           std::any_of(pools.begin(), pools.end(), [&](const cluster::Pool& pool) {
             return pool.suits(demand) && pool.gpus_per_node >= demand.gpus;
           });
  }

  static double price_of_node(const cluster::Pool& pool, const View& view) {
    return price_of(pool.gpu_type, view) * pool.gpus_per_node;
  }

  /// Offers nodes to the search; of idle nodes of a kind, no more than jobs are placed together.
  void offer_nodes(NodeSearch& search, VcId vc, const std::map<NodeId, double>& paid_s,
                   const View& view, const cluster::Ledger& ledger) const {
    for (const cluster::Pool& pool : ledger.pools(vc)) {
      std::size_t idle = 0;
      for (const NodeId node : pool.nodes) {
        const auto paid = paid_s.find(node);
        const bool is_idle = paid == paid_s.end();
        if (ledger.free_on(node) == 0 || (is_idle && idle++ >= considered_)) continue;
        search.offer({node, price_of_node(pool, view), is_idle ? 0 : paid->second});
      }
    }
  }

  NodeSearch::Ask ways_of(JobId job, VcId vc, const Ends& ends_s, const View& view,
                          const cluster::Ledger& ledger) const {
    const trace::Request& request = view.request(job);
    NodeSearch::Ask made{.demand = asked(job, view), .waits_cost = kForever};
    const bool is_open = view.speeds != nullptr && request.max_gpus > 0;
    const int least = is_open ? trace::sizes_of(request).least : made.demand.gpus;
    const int step = trace::size_step(request);
    const int most = is_open ? request.max_gpus : made.demand.gpus;
    const auto late_cost = [&](double end_s) {
      if (request.deadline == kNoTime) return 0.0;
      return late_cost_ * std::max(0.0, end_s - seconds(request.deadline - view.now));
    };
    for (const cluster::Pool& pool : ledger.pools(vc)) {
      const cluster::Amount node{pool.gpus_per_node, pool.cpu_milli, pool.memory_mb};
      const int end = std::min({most, pool.gpus_per_node, pool.capacity});
      for (int gpus = least; gpus <= end; gpus += step) {
        if (!pool.suits(made.demand) || !node.covers(made.demand.of(gpus))) break;
        const double runs_s = time_s(job, gpus, pool.gpu_type, vc, view, ledger);
        if (runs_s == kForever) continue;
        made.ways.push_back({gpus, pool.gpu_type, runs_s, late_cost(runs_s)});
        const double end_s = wait_s(pool, gpus, ends_s) + runs_s;
        made.waits_cost =
            std::min(made.waits_cost, price_of_node(pool, view) * runs_s + late_cost(end_s));
      }
    }
    if (made.ways.empty()) made.waits_cost = 0;
    return made;
  }

  /// Returns the time until enough GPUs of a type are expected to be free.
  static double wait_s(const cluster::Pool& pool, int gpus, const Ends& ends_s) {
    const auto ends = ends_s.find(pool.gpu_type);
    if (gpus <= pool.free_gpus || ends == ends_s.end()) return 0;
    const auto missing = static_cast<std::size_t>(gpus - pool.free_gpus);
    return ends->second[std::min(missing, ends->second.size()) - 1];
  }

  /// Returns the expected remaining run time; 0 GPUs means what the job requests. Infinite if it
  /// cannot run there.
  double time_s(JobId job, int gpus, std::uint64_t type, VcId vc, const View& view,
                const cluster::Ledger& ledger) const {
    const bool is_asked = gpus == 0 || gpus == asked(job, view).gpus;
    const double rate = is_asked ? rate_on_type(job, type, vc, view, ledger)
                                 : rate_on(job, gpus, type, vc, view, ledger);
    return rate > 0 ? std::max(1e-3, seconds(work_left(job, view)) / rate) : kForever;
  }

  void order_rest(VcId vc, std::span<JobId> waiting) const override {
    order_as(lines_.at(vc), waiting);
  }

  double late_cost_;
  std::size_t considered_;
  std::deque<NodeGpus> on_;                   // of the wishes
  std::map<VcId, std::vector<JobId>> lines_;  // jobs that waited, by deadline
};

}  // namespace

void register_jahani(Registry& registry) {
  registry.wholes.add(
      {.name = "jahani",
       .summary = "cheapest nodes on which jobs finish in time, shared while they are paid for",
       .source = "Jahani et al. ICCCS'19",
       .traits = {.has = {Trait::reads_run_times, Trait::chooses_gpus}},
       .parameters = {number("late_cost",
                             "cost of a second of tardiness, where a GPU-second costs 1", 10, 0,
                             1e9),
                      whole_number("considered", "jobs placed together", 8, 1, 16)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Jahani>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told);
      });
}

}  // namespace almanac::policy::whole
