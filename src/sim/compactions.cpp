// SPDX-License-Identifier: Apache-2.0
#include "sim/compactions.h"

#include <algorithm>
#include <utility>

#include "rules/defrag/plan.h"
#include "schedule/admission.h"

namespace almanac::sim {
namespace {

using cluster::Grant;

double gpus_in(const Grant& grant) {
  return grant.count() * (grant.gpu_milli / double{cluster::kWholeGpu});
}

/// Jobs that wait of which it is asked how they could have room.
constexpr std::size_t kMostNewcomers = 256;

class Advisor {
 public:
  Advisor(const trace::Trace& trace, const cluster::Cluster& cluster, const Present& present)
      : trace_(trace),
        cluster_(cluster),
        present_(present),
        admission_(cluster, trace.names),
        ledger_(cluster) {
    advice_.at = present.at;
    for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node) {
      ledger_.set_drained(NodeId{node}, false);
    }
  }

  void add_running(const Loses& loses) {
    for (const Present::Job& each : present_.running) {
      const bool is_free = std::all_of(each.held.begin(), each.held.end(),
                                       [&](const Grant& grant) { return ledger_.can_take(grant); });
      if (!is_free) {
        ++advice_.left_out;
        continue;
      }
      for (const Grant& grant : each.held) ledger_.take(grant);
      ++advice_.running;
      double gpus = 0;
      for (const Grant& grant : each.held) gpus += grant.count() > 0 ? gpus_in(grant) : 1;
      const bool may_move = std::all_of(each.held.begin(), each.held.end(), [&](const Grant& one) {
        return one.gpus == 0 || defrag::may_move(ledger_, one);
      });
      if (!may_move) ++advice_.left_alone;
      const auto lost = may_move && holds_what_it_asks(each) ? loses(each) : std::nullopt;
      const double cost = lost ? gpus * seconds(*lost) : defrag::kStays;
      if (!lost) ++advice_.staying;
      residents_.push_back({.job = each.job,
                            .held = each.held,
                            .cost_gpu_s = cost,
                            .nvlink_gpus = trace_.jobs[index(each.job)].request.nvlink_gpus});
    }
    ledger_.commit();
    for (const NodeId node : present_.drained) ledger_.set_drained(node, true);
    for (std::uint32_t at = 0; at < cluster_.nodes.size(); ++at) {
      const NodeId node{at};
      for (int gpu = 0; ledger_.ready(node) && gpu < cluster_.gpus(node); ++gpu) {
        advice_.free_gpus += ledger_.free_milli(node, gpu) / double{cluster::kWholeGpu};
      }
    }
  }

  void add_waiting() {
    for (const Present::Job& each : present_.waiting) {
      const trace::Request& request = trace_.jobs[index(each.job)].request;
      const VcId vc = admission_.vc(request);
      if (vc == kNoVc || request.gpus == 0) continue;
      ++advice_.waiting;
      if (newcomers_.size() == kMostNewcomers) continue;
      const DemandId demand = admission_.demand(request, vc);
      if (admission_.never(vc, demand)) continue;
      if (!defrag::may_have_room(admission_.demands()[index(demand)])) ++advice_.left_alone;
      newcomers_.push_back({each.job, vc, admission_.demands()[index(demand)]});
    }
  }

  Compactions advise(const defrag::Limits& limits) {
    const defrag::Plan plan = defrag::make_plan(ledger_, residents_, newcomers_, limits);
    for (const defrag::Step& step : plan.steps) {
      const defrag::Newcomer& newcomer = newcomers_[step.newcomer];
      AdvisedStep made{.job = name(newcomer.job),
                       .vc = cluster_.vcs.size() > 1 ? cluster_.vcs[index(newcomer.vc)].name : "",
                       .gpus = step.gpus,
                       .place = places(step.compaction.place),
                       .lost_gpu_s = step.compaction.cost_gpu_s,
                       .is_proven = step.is_proven};
      for (const defrag::Move& move : step.compaction.moves) {
        const defrag::Resident& moved = residents_[move.resident];
        made.moves.push_back(
            {name(moved.job), places(moved.held), places(move.to), moved.cost_gpu_s});
      }
      advice_.steps.push_back(std::move(made));
    }
    for (const std::size_t each : plan.fit) advice_.fit.push_back(name(newcomers_[each].job));
    for (const std::size_t each : plan.given_up) {
      advice_.given_up.push_back(name(newcomers_[each].job));
    }
    return std::move(advice_);
  }

 private:
  bool holds_what_it_asks(const Present::Job& job) {
    const trace::Request& request = trace_.jobs[index(job.job)].request;
    const VcId vc = admission_.vc(request);
    if (vc == kNoVc || job.held.empty()) return false;
    const cluster::Demand asked = admission_.demands()[index(admission_.demand(request, vc))];
    return std::all_of(job.held.begin(), job.held.end(), [&](const Grant& grant) {
      return grant.gpus == 0 || grant.gpu_milli == asked.gpu_milli;
    });
  }

  std::string name(JobId job) const { return trace_.id(trace_.jobs[index(job)].id); }
  std::vector<GpusAt> places(std::span<const Grant> grants) const {
    std::vector<GpusAt> made;
    for (const Grant& grant : grants) {
      made.push_back({cluster_.node_label(grant.node), gpus_in(grant)});
    }
    return made;
  }

  const trace::Trace& trace_;
  const cluster::Cluster& cluster_;
  const Present& present_;
  schedule::Admission admission_;
  cluster::Ledger ledger_;
  std::vector<defrag::Resident> residents_;
  std::vector<defrag::Newcomer> newcomers_;
  Compactions advice_;
};

}  // namespace

Compactions advise_moves(const trace::Trace& trace, const cluster::Cluster& cluster,
                         const Present& present, const Loses& loses, const defrag::Limits& limits) {
  Advisor advisor(trace, cluster, present);
  advisor.add_running(loses);
  advisor.add_waiting();
  return advisor.advise(limits);
}

}  // namespace almanac::sim
