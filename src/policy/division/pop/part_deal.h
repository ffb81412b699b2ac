// SPDX-License-Identifier: Apache-2.0

/// \file
/// Deals jobs out to parts of the nodes (division/pop/node_parts.h), each in turn or at random; a
/// job stays in its part until it is gone, or all are dealt out anew.
///
/// A virtual cluster has as many parts as let each of its jobs find room in one: a job that fits
/// none joins parts. Where that changes, all are to be dealt out anew.
///
/// Source   Narayanan et al., SOSP'21 (POP), section 3.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "policy/contract/contract.h"
#include "policy/division/pop/node_parts.h"

namespace almanac::policy {

class PartDeal {
 public:
  static constexpr int kNoPart = -1;

  /// At most `most` parts; `machines` and `placement` outlive it.
  PartDeal(const cluster::Cluster& machines, const Placement& placement, int most, bool at_random)
      : machines_(machines),
        nodes_(machines, placement, most),
        at_random_(at_random),
        vcs_(machines.vcs.size()) {}

  /// A job that waits or runs has come, or is gone, or was so before: true = parts are to be dealt
  /// out anew.
  bool add(JobId job, const View& view, const cluster::Ledger& ledger);
  bool remove(JobId job);
  /// Gives a job that waits to a part that holds it.
  void deal(JobId job, const View& view, const cluster::Ledger& ledger);
  /// Makes as many parts as the jobs let there be. Jobs that run are in the part of their nodes;
  /// those that are held until later are in none, the others are dealt.
  void deal_anew(const View& view, const cluster::Ledger& ledger);
  /// The drained nodes are others.
  void nodes_changed() { nodes_.forget(); }

  int part_of(JobId job) const {
    const auto own = jobs_.find(job);
    return own == jobs_.end() ? kNoPart : own->second.part;
  }
  /// `ledger` as one part sees it, with all nodes drained that are of others. Cost: O(nodes).
  cluster::Ledger ledger_of(int part, const cluster::Ledger& ledger) const;
  /// All that wait or run, in order of number.
  std::vector<JobId> jobs() const;
  /// The lines of the parts as one: the first of each part before the second of any; behind them
  /// the jobs that are in none.
  void line_up(std::span<const std::vector<JobId>> lines, std::vector<JobId>& line) const;

 private:
  struct Dealt {
    VcId vc{};
    int part = kNoPart;
    int count = 1;  // the most parts of its virtual cluster of which it needs one only
  };
  struct Vc {
    int count = 0;              // parts; 0 = none is made yet
    std::map<int, int> jobs{};  // how many there are by Dealt::count
    int turn = 0;
  };

  int most_parts(JobId job, const View& view, const cluster::Ledger& ledger);
  std::vector<int> with_room(JobId job, int count, const View& view, const cluster::Ledger& ledger);
  bool lies_across(JobId job, int count, const View& view) const;

  const cluster::Cluster& machines_;
  NodeParts nodes_;
  bool at_random_;
  std::vector<Vc> vcs_;
  std::map<JobId, Dealt> jobs_;
};

}  // namespace almanac::policy
