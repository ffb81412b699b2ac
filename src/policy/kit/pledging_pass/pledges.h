// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says which deadlines are promised, and which GPUs are set aside for that (pledge_book.h).
///
/// A job with a deadline is asked about once, when it comes: it has a pledge from then on, or it is
/// refused and runs as one without a deadline. Where it is still worth something late
/// (trace/value.h) the earliest end of a lease is promised that can be. As a lease begins each
/// pledge is looked at again: a job that is ahead lets go what it needs no more; one that ran
/// longer than believed, or lost nodes, is promised anew if that can be, else nothing.
///
/// Or nothing is promised for good: as a lease begins, all jobs that can still be in time are
/// asked again, in the order of the GPU time that they still need. Each deadline counts alike; so
/// when not all can be met, the cheap ones should be (Moore, 1968, of one machine).
///
/// Source   Gao et al., SoCC'21 (Chronus); Gu et al., ASPLOS'23 (ElasticFlow).
/// Cost     a lease that begins asks each pledge, an event between leases as well.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/pledging_pass/pledge_book.h"

namespace almanac::policy {

class Pledges {
 public:
  /// What a job may be given, fewest GPUs first; read before the next call.
  using LevelsOf = std::function<std::span<const Level>(JobId)>;

  /// Which jobs' deadlines are to be met.
  enum class Whose { first_to_come, cheapest };

  Pledges(Desk& desk, Duration lease, Duration phase, Whose whose, LevelsOf levels_of)
      : desk_(desk),
        lease_(lease),
        phase_(phase),
        whose_(whose),
        levels_of_(std::move(levels_of)) {}

  /// A job joins the queue, or runs when the policy is new.
  void came(const VcState& vc, JobId job);
  /// It needs no promise any more: it has ended, or waits no longer.
  void ended(const VcState& vc, JobId job);
  /// When GPUs that are lent beyond the pledges can be had back.
  enum class Stops { as_leases_begin, at_once };
  /// Binds the present; promises the deadlines of jobs that have come, and looks at all promises
  /// as a lease begins. Gives whether GPUs of the present lease were pledged to a job.
  bool look(const VcState& vc, bool lease_begins, Stops stops);

  /// GPUs that a job holds.
  int held(JobId job) const;
  /// The type of those of a running job, one bit.
  std::uint64_t type_of(VcId vc, JobId job) const;
  bool has(VcId vc, JobId job) const { return of(vc).promises.contains(job); }
  /// The jobs that have a pledge.
  std::vector<JobId> jobs(VcId vc) const;
  /// GPUs pledged to a job in the present lease; 0 also where nothing is.
  int now(VcId vc, JobId job) const;
  /// What a job needs to start, of the GPU type that it was pledged.
  cluster::Demand demand(VcId vc, JobId job) const;
  /// Whether a running job could be left with what is pledged to it from now on, which may be
  /// nothing for a while.
  bool can_give_way(VcId vc, JobId job) const;
  /// Whether a running job would keep its promise if it were stopped now and went on at once.
  bool may_restart(VcId vc, JobId job) const;
  /// The pledged GPUs for which a unit of its work would be done later; of a job without a
  /// pledge, on the fewest GPUs.
  double gpus_per_rate(VcId vc, JobId job) const;
  /// The work that a job gains where it has `to` in the present lease instead of `from`, which may
  /// be nothing (0 GPUs); what changing costs, now and later, is taken off. Above 0, a job
  /// with a pledge can be lent that and the pledge still holds.
  double gain(VcId vc, JobId job, const Level& from, const Level& to) const;

 private:
  struct Promise {
    Pledge pledge;
    Time due{};
  };
  struct Vc {
    PledgeBook book;
    std::map<JobId, Promise> promises{};
    std::vector<JobId> newcomers{};
    std::set<JobId> hopeful{};  // all with deadlines, where the cheapest are chosen
  };
  Vc& of(VcId vc);
  const Vc& of(VcId vc) const { return vcs_[index(vc)]; }
  PledgeBook::Need need(JobId job, Time due) const;
  std::optional<Pledge> find(const Vc& vc, JobId job, const PledgeBook::Need& need) const;
  void review(Vc& vc);
  void choose_anew(Vc& vc);
  void admit(Vc& vc, JobId job);

  Desk& desk_;
  Duration lease_;
  Duration phase_;
  Whose whose_;
  LevelsOf levels_of_;
  std::vector<Vc> vcs_;
  std::vector<bool> asked_;  // each job
};

}  // namespace almanac::policy
