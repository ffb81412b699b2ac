// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cores and memory that are best for all jobs together, by an integer program in each lease.
/// No job runs slower than with its proportional share.
///
/// Source   Mohan et al., OSDI'22 (Synergy), OPT: the program pools the cores and memory of all
///          nodes.
/// Differs  The artifact stops there, and its OPT is an upper bound. Here jobs wish for that answer
///          when they are placed (kit/deal_out.h), and jobs get the remainder node by node.
///          The paper's second program splits jobs into fractions of GPUs, which must then be
///          rounded.
#include <algorithm>
#include <map>
#include <vector>

#include "policy/kit/best_mix.h"
#include "policy/kit/deal_out.h"
#include "policy/registry.h"
#include "policy/size/chosen.h"

namespace almanac::policy::size {
namespace {

struct Pooled {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mb = 0;
};

/// Returns the free cores and memory of the nodes of `vc` with free GPUs.
Pooled pool_of(const cluster::Ledger& ledger, VcId vc) {
  Pooled made;
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    for (const NodeId node : pool.nodes) {
      const cluster::Amount room = ledger.room(node);
      if (room.gpus == 0) continue;
      made.cpu_milli += room.cpu_milli;
      made.memory_mb += room.memory_mb;
    }
  }
  return made;
}

std::int64_t cores_of(std::span<const cluster::Grant> grants) {
  std::int64_t cores = 0;
  for (const cluster::Grant& grant : grants) cores += grant.cpu_milli;
  return cores;
}

class Opt final : public ChosenSize {
 public:
  Opt() : ChosenSize(StartsWith::least) {}

  bool deals_out() const override { return true; }
  void deal_out(std::span<PackedJob> jobs, VcId vc, const View& view,
                cluster::Ledger& ledger) override {
    bool any_choice = false;
    for (PackedJob& job : jobs) {
      job.choices = &choices_.of(job.job, view);
      job.wish = job.choices->least;
      any_choice = any_choice || job.choices->all.size() > 1;
    }
    if (any_choice) wish_for_the_best_mix(jobs, vc, ledger);
    pack(jobs, vc, ledger);
  }

 private:
  static void wish_for_the_best_mix(std::span<PackedJob> jobs, VcId vc,
                                    const cluster::Ledger& ledger) {
    std::map<std::pair<std::size_t, int>, std::vector<std::size_t>> alike;  // choices, GPUs
    std::map<const JobChoices*, std::size_t> number;  // by first mention: addresses are no order
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      const std::size_t known = number.try_emplace(jobs[job].choices, number.size()).first->second;
      alike[{known, jobs[job].gpus}].push_back(job);
    }
    std::vector<JobKind> kinds;
    for (const auto& [key, of_kind] : alike) {
      JobKind kind{.jobs = static_cast<int>(of_kind.size()),
                   .choices = jobs[of_kind.front()].choices->all};
      for (SizeChoice& choice : kind.choices) {
        choice.cpu_milli *= key.second;
        choice.memory_mb *= key.second;
      }
      kinds.push_back(std::move(kind));
    }
    const Pooled pool = pool_of(ledger, vc);
    const auto mix = best_mix(kinds, pool.cpu_milli, pool.memory_mb);
    if (!mix) return;  // some job will find no place; then the least is wish enough
    std::size_t kind = 0;
    for (auto& [key, of_kind] : alike) {
      // The job that has most gets most, so that as few as possible change.
      std::stable_sort(of_kind.begin(), of_kind.end(), [&](std::size_t a, std::size_t b) {
        return cores_of(jobs[a].held) > cores_of(jobs[b].held);
      });
      std::size_t next = 0;
      for (std::size_t choice = (*mix)[kind].size(); choice-- > 0;) {
        for (int times = 0; times < (*mix)[kind][choice]; ++times)
          jobs[of_kind[next++]].wish = choice;
      }
      ++kind;
    }
  }
};

}  // namespace

void register_opt(Registry& registry) {
  registry.sizes.add(
      {"opt",
       "optimal for all jobs together, by an integer program at every lease",
       "Mohan et al. OSDI'22",
       {.has = {Trait::reads_speeds, Trait::moves_jobs, Trait::chooses_cores, Trait::deals_out},
        .needs = {Trait::leases},
        .bars = {Trait::chooses_gpus}}},
      [](const Parameters&) { return std::make_unique<Opt>(); });
}

}  // namespace almanac::policy::size
