// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of passes that rank all GPU jobs, waiting and running, at the end of each lease. The first
/// jobs whose GPUs fill the cluster run in the next lease; other running jobs stop. The size slot
/// then allocates cores and memory.
///
/// Source   Mohan et al., OSDI'22 (Synergy): leases of 300 s, chosen by GPUs alone.
/// Differs  The artifact stops every job at the end of a lease and places all again. Here a job
///          keeps its GPUs unless the gain of a move exceeds its restart. If the size does not
///          allocate node by node, no job is stopped for one that then finds no place, and GPUs
///          that chosen jobs cannot use are offered to the next. If the packing lets jobs share
///          GPUs, jobs that still wait join others, and those that share the same GPUs are ranked
///          as one, by the first of them: they run together, and stop together if their GPUs are
///          needed. A job keeps its GPUs until it has gained what a stop would cost it
///          (kit/gain.h), except from a higher tier. CPU jobs get the remaining cores, in order of
///          rank, and are never stopped.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/kit/eviction.h"
#include "policy/kit/gain.h"
#include "policy/kit/leased_pass.h"
#include "policy/kit/quota_deal.h"
#include "policy/kit/unmet.h"

namespace almanac::policy {

class RankedLeases : public LeasedPass {
 public:
  using LeasedPass::LeasedPass;

 protected:
  void renew(VcState& vc) override {
    rank_all(vc);
    choose(vc);
    if (desk_.size() != nullptr && desk_.size()->deals_out()) {
      while (!losers_.empty()) stop_last_loser(vc);
      deal_out(vc);
    } else {
      for (const Ranked& each : chosen_) {
        if (!each.runs) start_or_displace(vc, each.job);
      }
    }
    for (const Ranked& each : unlucky_) {
      if (desk_.ledger().free_gpus(vc.vc) == 0) break;
      try_start(vc, each.job);
    }
    unmet_.clear();
    make_more_room(vc);
    if (desk_.packs()) {
      for (const Ranked& each : ranked_) {
        if (!each.runs && !desk_.starts(each.job)) join(vc, each.job);
      }
    }
    for (const Ranked& each : cpu_jobs_) try_start(vc, each.job);
    unmet_.clear();
  }
  /// Starts jobs that were chosen or are left over and found no place, before they join others.
  virtual void make_more_room(VcState& vc) { static_cast<void>(vc); }

 private:
  struct Ranked {
    std::int32_t tier = 0;
    double rank = 0;
    double tie = 0;
    JobId job{};
    int gpus = 0;
    bool runs = false;
    bool stays = false;           // until it has gained what a stop costs
    std::vector<JobId> others{};  // that run on the same GPUs

    friend bool operator<(const Ranked& a, const Ranked& b) {
      if (a.tier != b.tier) return a.tier > b.tier;
      if (a.stays != b.stays) return a.stays;
      if (a.rank != b.rank) return a.rank < b.rank;
      if (a.tie != b.tie) return a.tie < b.tie;
      return a.job < b.job;
    }
  };

  void rank_all(const VcState& vc) {
    // A size that allocates node by node knows no shared GPUs.
    const bool is_dealt_out = desk_.size() != nullptr && desk_.size()->deals_out();
    ranked_.clear();
    cpu_jobs_.clear();
    for (const WaitingQueue::Class& each : vc.waiting.classes()) {
      for (RankedQueue::Cursor at(each.jobs); at.get() != nullptr; at.advance()) {
        const bool is_cpu_job = each.demand.is_cpu_job();
        rank(at.get()->job, is_cpu_job ? cpu_jobs_ : ranked_, each.demand.gpus, false);
      }
    }
    for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
      const JobId job = at.get()->job;
      const int gpus = gpus_to_deal(desk_, job);
      if (gpus == 0 || (is_dealt_out && desk_.is_paired(job))) continue;
      rank(job, ranked_, gpus, true);
      if (desk_.is_paired(job)) join_mates();
    }
    std::sort(ranked_.begin(), ranked_.end());
    std::sort(cpu_jobs_.begin(), cpu_jobs_.end());
  }

  void rank(JobId job, std::vector<Ranked>& into, int gpus, bool runs) const {
    const Candidate seen = desk_.candidate(job);
    into.push_back({.tier = seen.tier,
                    .rank = desk_.order().rank(seen),
                    .tie = desk_.order().tie(seen),
                    .job = job,
                    .gpus = gpus,
                    .runs = runs,
                    .stays = runs && !has_repaid(job, desk_.view())});
  }

  /// Makes one of the last ranked job and the one before it that runs on the same GPUs, if any.
  void join_mates() {
    Ranked& last = ranked_.back();
    const cluster::Grant held = desk_.grants(last.job).front();
    const auto mate = std::find_if(ranked_.begin(), ranked_.end() - 1, [&](const Ranked& each) {
      if (!each.runs || !desk_.is_paired(each.job)) return false;
      const cluster::Grant other = desk_.grants(each.job).front();
      return other.node == held.node && other.gpus == held.gpus;
    });
    if (mate == ranked_.end() - 1) return;
    if (last < *mate) {
      std::swap(last, *mate);
      std::swap(last.others, mate->others);
    }
    mate->others.push_back(last.job);
    ranked_.pop_back();
  }

  void choose(const VcState& vc) {
    int left = desk_.ledger().free_gpus(vc.vc);
    for (const Ranked& each : ranked_) {
      if (each.runs) left += each.gpus;
    }
    chosen_.clear();
    unlucky_.clear();
    losers_.clear();
    quotas_.open(desk_.plan().quotas);
    for (const Ranked& each : ranked_) {
      const int held = each.runs ? each.gpus : 0;
      if (!quotas_.has_room(each.job, held, each.gpus)) continue;
      if (each.gpus <= left) {
        quotas_.deal(each.job, held, each.gpus);
        left -= each.gpus;
        chosen_.push_back(each);
      } else if (each.runs) {
        losers_.push_back(each.job);
        losers_.insert(losers_.end(), each.others.begin(), each.others.end());
      } else {
        unlucky_.push_back(each);
      }
    }
  }

  void try_start(VcState& vc, JobId job) {
    const cluster::Demand& demand = desk_.demand(job);
    if (unmet_.rules_out(demand)) return;
    const auto grants = desk_.place(vc.vc, demand);
    grants.empty() ? unmet_.add(demand) : desk_.start(vc, job, grants);
  }

  void join(VcState& vc, JobId job) {
    const auto grants = desk_.join(vc.vc, job);
    if (!grants.empty()) desk_.start(vc, job, grants);
  }

  void stop_last_loser(VcState& vc) {
    desk_.give_back(losers_.back());
    desk_.stop(vc, losers_.back());
    losers_.pop_back();
  }

  /// Stops as many losers as it takes, the last in rank first; none if all would not do. Jobs that
  /// shared with one of these and are in no job's way go on alone.
  void start_or_displace(VcState& vc, JobId job) {
    const cluster::Demand& demand = desk_.demand(job);
    if (unmet_.rules_out(demand)) return;
    auto grants = desk_.place(vc.vc, demand);
    if (grants.empty()) {
      std::size_t left = losers_.size();
      const auto next = [&] { return left > 0 ? losers_[--left] : kNoJob; };
      grants = eviction_.make_room(vc.vc, demand, next);
      for (const JobId victim : eviction_.victims()) {
        desk_.stop(vc, victim);
        std::erase(losers_, victim);
      }
    }
    grants.empty() ? unmet_.add(demand) : desk_.start(vc, job, grants);
  }

  void deal_out(VcState& vc) {
    packed_.clear();
    for (const Ranked& each : chosen_) {
      // It stays, or ends on a drained node.
      if (each.stays || (each.runs && !may_move(desk_, each.job))) continue;
      const cluster::Demand& demand = desk_.demand(each.job);
      packed_.push_back({.job = each.job,
                         .gpus = each.gpus,
                         .gpu_types = demand.gpu_types,
                         .nvlink_gpus = demand.nvlink_gpus});
      if (!each.runs) continue;
      packed_.back().held = desk_.grants(each.job);
      desk_.give_back(each.job);
    }
    desk_.size()->deal_out(packed_, vc.vc, desk_.view(), desk_.ledger());
    for (const PackedJob& made : packed_) settle(vc, made);
  }

  void settle(VcState& vc, const PackedJob& made) {
    if (made.held.empty()) {
      if (!made.grants.empty()) desk_.start(vc, made.job, made.grants);
    } else if (made.grants.empty()) {
      desk_.stop(vc, made.job);
    } else {
      desk_.move(made.job, made.grants);
    }
  }

  std::vector<Ranked> ranked_;
  std::vector<Ranked> cpu_jobs_;
  std::vector<Ranked> chosen_;
  std::vector<Ranked> unlucky_;  // that wait
  std::vector<JobId> losers_;    // that run and are not chosen
  std::vector<PackedJob> packed_;
  Eviction eviction_{desk_};
  QuotaDeal quotas_;
  Unmet unmet_;
};

}  // namespace almanac::policy
