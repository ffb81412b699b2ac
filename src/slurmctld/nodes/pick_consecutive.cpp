// SPDX-License-Identifier: Apache-2.0

/// \file
/// Source   Slurm 22.05, select/cons_tres/job_test.c (_eval_nodes, _eval_nodes_lln).
#include <algorithm>
#include <span>

#include "slurmctld/nodes/pick.h"

namespace almanac::slurmctld {
namespace {

constexpr std::size_t kNoOffer = ~std::size_t{0};

/// Neighbours in the node table that weigh the same.
struct Run {
  std::size_t first = 0;            // in offers
  std::size_t last = 0;             // one past
  std::size_t required = kNoOffer;  // the first node in it that is taken already
  int nodes = 0;                    // that are not taken, as the sums below
  std::int64_t cpus = 0;
  int gpus = 0;
  std::int64_t weight = 0;
};

std::vector<Run> runs_of(const std::vector<Offer>& offers, bool across_weights) {
  std::vector<Run> runs;
  Run run;
  const auto close = [&](std::size_t next) {
    if (run.nodes > 0) runs.push_back(run);
    run = {.first = next};
  };
  for (std::size_t at = 0; at < offers.size(); ++at) {
    const Offer& offer = offers[at];
    if (at > 0 && offer.node != offers[at - 1].node + 1) close(at);
    if (run.nodes > 0 && run.weight != offer.weight && !across_weights) close(at);
    run.last = at + 1;
    if (offer.taken) {
      run.required = std::min(run.required, at);
      continue;
    }
    if (run.nodes == 0) run.weight = offer.weight;
    ++run.nodes;
    run.cpus += offer.cpus;
    run.gpus += offer.gpus;
  }
  close(0);
  return runs;
}

struct Best {
  const Run* run = nullptr;
  bool is_sufficient = false;
};

/// Returns the run with a node of the job, else the lightest; of those that weigh the same, the
/// tightest that suffices, else the one with most CPUs.
Best best_of(const std::vector<Run>& runs, const Pick& pick) {
  Best best;
  const bool contiguous = pick.question().request.contiguous;
  for (const Run& run : runs) {
    if (run.nodes == 0) continue;
    const bool is_sufficient =
        run.cpus >= pick.cpus_left() && pick.is_enough(run.nodes) && run.gpus >= pick.gpus_left();
    bool is_better = best.run == nullptr || run.weight < best.run->weight;
    if (!is_better && run.weight == best.run->weight) {
      is_better = is_sufficient ? !best.is_sufficient || run.cpus < best.run->cpus
                                : run.cpus > best.run->cpus;
    }
    if (!is_better && contiguous) is_better = is_sufficient && !best.is_sufficient;
    if (best.run != nullptr && (run.required != kNoOffer) != (best.run->required != kNoOffer)) {
      is_better = run.required != kNoOffer;
    }
    if (is_better) best = {&run, is_sufficient};
  }
  return best;
}

/// Returns the node of a run with the fewest CPUs that holds all that is missing; null = none.
Offer* tightest(std::span<Offer> run, const Pick& pick) {
  Offer* best = nullptr;
  for (Offer& offer : run) {
    if (offer.taken || offer.cpus < pick.cpus_left() || offer.gpus < pick.gpus_left()) continue;
    if (best == nullptr || offer.cpus < best->cpus) best = &offer;
  }
  return best;
}

/// Takes a node if the job can still have one and needs it. Returns false if nothing is missing.
bool take_if_needed(Pick& pick, Offer& offer) {
  if (pick.is_done() || pick.room_for_nodes() == 0) return false;
  if (offer.taken || (pick.room_for_nodes() == 1 && offer.cpus < pick.cpus_left())) return true;
  pick.take(offer);
  return true;
}

/// Takes nodes in order; from the first required one upwards, then downwards.
void take_run(Pick& pick, const Run& run) {
  const std::size_t from = run.required == kNoOffer ? run.first : run.required;
  for (std::size_t at = from; at < run.last; ++at) {
    if (!take_if_needed(pick, pick.offers()[at])) return;
  }
  for (std::size_t at = from; at > run.first; --at) {
    if (!take_if_needed(pick, pick.offers()[at - 1])) return;
  }
}

}  // namespace

bool pick_consecutive(Pick& pick) {
  if (!pick.take_required()) return false;
  if (pick.is_done()) return true;
  std::vector<Run> runs = runs_of(pick.offers(), pick.question().request.contiguous);
  while (pick.room_for_nodes() > 0) {
    const Best best = best_of(runs, pick);
    if (best.run == nullptr || (pick.question().request.contiguous && !best.is_sufficient)) break;
    const Run& run = *best.run;
    const bool is_last = pick.nodes_left() <= 1 && run.required == kNoOffer;
    Offer* const single =
        is_last ? tightest({pick.offers().data() + run.first, run.last - run.first}, pick)
                : nullptr;
    if (single != nullptr) {
      pick.take(*single);
    } else {
      take_run(pick, run);
    }
    if (pick.is_done()) return true;
    runs[static_cast<std::size_t>(best.run - runs.data())].nodes = 0;
  }
  return pick.is_acceptable();
}

bool pick_least_loaded(Pick& pick, const Room& room) {
  if (!pick.take_required()) return false;
  std::vector<Offer*> order;
  for (Offer& offer : pick.offers()) {
    if (!offer.taken) order.push_back(&offer);
  }
  const auto is_first = [&](const Offer* one, const Offer* other) {
    if (one->weight != other->weight) return one->weight < other->weight;
    const auto free = [&](const Offer* of) { return std::int64_t{room.free_cpus(of->node)}; };
    const auto all = [&](const Offer* of) { return pick.table().nodes[of->node].cpus; };
    return free(one) * all(other) > free(other) * all(one);
  };
  std::stable_sort(order.begin(), order.end(), is_first);
  for (Offer* const offer : order) {
    if (pick.is_done() || pick.room_for_nodes() == 0) break;
    if (pick.room_for_nodes() == 1 && offer->cpus < pick.cpus_left()) continue;
    pick.take(*offer);
  }
  return pick.is_done() || pick.is_acceptable();
}

}  // namespace almanac::slurmctld
