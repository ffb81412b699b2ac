// SPDX-License-Identifier: Apache-2.0

/// \file
/// Assigns jobs to parts of the nodes (division/pop/node_parts.h), in turn or at random. A job
/// stays in its part until it ends, or until all jobs are assigned again.
///
/// A virtual cluster has the largest number of parts with which each of its jobs fits into one; a
/// job that fits into none merges parts. If that number changes, all jobs must be assigned again.
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

  /// `most` is the largest number of parts. `machines` and `placement` must outlive this object.
  PartDeal(const cluster::Cluster& machines, const Placement& placement, int most, bool at_random)
      : machines_(machines),
        nodes_(machines, placement, most),
        at_random_(at_random),
        vcs_(machines.vcs.size()) {}

  /// Record that a waiting or running job has come, or is gone. Return true if all jobs must be
  /// assigned again.
  bool add(JobId job, const View& view, const cluster::Ledger& ledger);
  bool remove(JobId job);
  /// Assigns a waiting job to a part that holds it.
  void deal(JobId job, const View& view, const cluster::Ledger& ledger);
  /// Makes as many parts as the jobs allow. Running jobs belong to the part of their nodes. Jobs
  /// that are held until later belong to none; all others are assigned.
  void deal_anew(const View& view, const cluster::Ledger& ledger);
  /// Call after the set of drained nodes has changed.
  void nodes_changed() { nodes_.forget(); }

  int part_of(JobId job) const {
    const auto own = jobs_.find(job);
    return own == jobs_.end() ? kNoPart : own->second.part;
  }
  /// Returns `ledger` as one part sees it: with all nodes of other parts drained. O(nodes).
  cluster::Ledger ledger_of(int part, const cluster::Ledger& ledger) const;
  /// Returns all waiting and running jobs, by number.
  std::vector<JobId> jobs() const;
  /// Merges the lines of the parts: the first job of each part before the second of any, and at the
  /// end the jobs in no part.
  void line_up(std::span<const std::vector<JobId>> lines, std::vector<JobId>& line) const;

 private:
  struct Dealt {
    VcId vc{};
    int part = kNoPart;
    int count = 1;  // largest part count of its virtual cluster with which it fits into one part
  };
  struct Vc {
    int count = 0;              // parts; 0 before the first assignment
    std::map<int, int> jobs{};  // number of jobs by Dealt::count
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
