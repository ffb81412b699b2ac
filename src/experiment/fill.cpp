// SPDX-License-Identifier: Apache-2.0
#include "experiment/fill.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "policy/kit/instances.h"
#include "policy/kit/node_images.h"
#include "policy/kit/placer.h"
#include "schedule/admission.h"

namespace almanac::experiment {
namespace {

std::int64_t milli_of(const cluster::Demand& demand) {
  return std::int64_t{demand.gpus} * demand.gpu_milli;
}

/// What a mix says of each node, kept up as nodes change.
class Fragments {
 public:
  Fragments(const fragment::Mix& mix, std::span<const cluster::Demand> arrivals,
            std::span<const NodeId> order)
      : mix_(mix), order_(order.begin(), order.end()) {
    for (const cluster::Demand& demand : arrivals) instances_.add(demand);
  }

  double sum(const cluster::Ledger& ledger) {
    images_.look(ledger);
    if (order_.empty()) {
      for (std::uint32_t node = 0; node < images_.size(); ++node) order_.push_back(NodeId{node});
    }
    unusable_.resize(images_.size());
    double sum = 0;
    for (const NodeId node : order_) {
      const std::size_t at = index(node);
      if (images_.changed_at(at) == images_.looks()) {
        const bool is_cut = ledger.pool(node).board != nullptr;
        unusable_[at] =
            is_cut ? instances_.unusable_milli(ledger, node) : mix_.unusable(images_[at]);
      }
      sum += unusable_[at];
    }
    return sum;
  }

 private:
  const fragment::Mix& mix_;
  std::vector<NodeId> order_;
  policy::InstanceMix instances_;
  policy::NodeImages images_;
  std::vector<double> unusable_;
};

}  // namespace

Filled fill(const cluster::Cluster& machines, const policy::Placement& placement,
            std::span<const cluster::Demand> arrivals, const fragment::Mix& mix, Rng rng,
            std::span<const NodeId> order) {
  cluster::Ledger ledger(machines);
  Fragments fragments(mix, arrivals, order);
  fragment::CurveSampler sampler(machines.gpus());
  Filled filled;
  std::int64_t arrived = 0;
  std::int64_t used = 0;
  std::vector<cluster::Grant> grants;
  for (const cluster::Demand& demand : arrivals) {
    arrived += milli_of(demand);
    grants.clear();
    const bool placed = policy::place_demand(placement, ledger, VcId{0}, demand, rng, grants);
    // A placement may spread what no node has room for; here that is no room.
    const bool is_apart = grants.size() > 1 && demand.profile == slices::kNoProfile;
    if (is_apart) ledger.undo(0);
    if (placed && !is_apart) {
      filled.places.emplace_back(grants.front());
      used += milli_of(demand);
    } else {
      filled.places.emplace_back();
    }
    ledger.commit();
    sampler.sample(arrived, used, fragments.sum(ledger));
  }
  filled.curve = sampler.curve();
  return filled;
}

Demands demands_of(const trace::Trace& trace, const cluster::Cluster& machines) {
  schedule::Admission admission(machines, trace.names);
  const std::vector<std::string> types = machines.gpu_types();
  const auto has_wide_node = [&](const cluster::Demand& demand) {
    return std::any_of(
        machines.classes.begin(), machines.classes.end(), [&](const cluster::NodeClass& make) {
          const auto type = std::find(types.begin(), types.end(), make.gpu_type) - types.begin();
          return make.gpus >= demand.gpus && (demand.gpu_types >> type & 1U) != 0;
        });
  };
  Demands made;
  fragment::Tally tally;
  for (const trace::Job& job : trace.jobs) {
    const DemandId id = admission.demand(job.request, VcId{0});
    const cluster::Demand& demand = admission.demands()[index(id)];
    // Instances may lie on several nodes.
    const bool on_one_node =
        demand.nodes <= 1 && demand.tasks <= 1 &&
        (demand.gpus == 0 || demand.profile != slices::kNoProfile || has_wide_node(demand));
    if (!on_one_node || admission.never(VcId{0}, id)) {
      ++made.left_out;
      continue;
    }
    made.jobs.push_back(demand);
    if (demand.profile == slices::kNoProfile) tally.add(policy::pod_of(demand));
  }
  made.mix = tally.mix();
  return made;
}

std::vector<cluster::Demand> draw_arrivals(std::span<const cluster::Demand> jobs,
                                           const cluster::Cluster& machines, double part, Rng rng) {
  const auto asks_gpus = [](const cluster::Demand& demand) { return demand.gpus > 0; };
  if (std::none_of(jobs.begin(), jobs.end(), asks_gpus)) return {};
  const double end = part * machines.gpus() * cluster::kWholeGpu;
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[rng.below(left)]);
  }
  std::vector<cluster::Demand> drawn;
  std::int64_t sum = 0;
  for (std::size_t at = 0; static_cast<double>(sum) < end; ++at) {
    drawn.push_back(jobs[at < order.size() ? order[at] : rng.below(jobs.size())]);
    sum += milli_of(drawn.back());
  }
  return drawn;
}

}  // namespace almanac::experiment
