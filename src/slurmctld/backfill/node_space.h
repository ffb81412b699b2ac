// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which nodes are not promised to pending jobs, over the time that one backfill cycle plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "slurmctld/jobs/submission.h"
#include "slurmctld/nodes/zones.h"

namespace almanac::slurmctld {

/// Whole nodes are promised, even to jobs that need only a part. Excludes running jobs.
///
/// slurmctld keeps one list of periods for all nodes. Here each zone has its own, so that a job
/// looks only at promises of its zone. Two things depend on the periods of all zones: how far a
/// test looks beyond the end of its job, and how many periods there are. So the times at which a
/// period of slurmctld's list begins are kept, too.
///
/// Source   Slurm 22.05, plugins/sched/backfill/backfill.c (node_space_map_t, _add_reservation,
///          _test_resv_overlap).
/// Cost     O(periods of the zone + log(periods)) for each call
class NodeSpace {
 public:
  /// `zones` must outlive it.
  explicit NodeSpace(const Zones& zones) : zones_(zones), periods_(zones.size()) {}

  /// Forgets all promises, but keeps memory. `nodes` may be promised from `begin` to `end`.
  void reset(Seconds begin, Seconds end, const NodeBits& nodes);

  /// Narrows `nodes` of a zone to those without another job from `start` to `end`, or to fewer than
  /// `least` if only fewer are left. Returns when more of them become free, or 0.
  Seconds narrow(ZoneAt zone, NodeBits& nodes, Seconds start, Seconds end, std::size_t least = 0);
  /// Whether a part of `nodes` is promised for a part of the time.
  bool is_promised(ZoneAt zone, const NodeBits& nodes, Seconds start, Seconds end) const;
  void promise(ZoneAt zone, const NodeBits& nodes, Seconds start, Seconds end);
  /// Returns when the first period after `at` begins in which a part of `nodes` is promised;
  /// kNoSeconds if there is none.
  Seconds first_promise(ZoneAt zone, const NodeBits& nodes, Seconds at) const;
  /// Periods of slurmctld's list.
  std::size_t num_periods() const { return begins_.size() + 1; }

 private:
  using Word = std::uint64_t;
  /// The periods of a zone, in order of time. Each lasts until the next one begins, and has other
  /// nodes. Sets of nodes are one array, so that a walk through the periods follows no pointers.
  struct Periods {
    std::vector<Seconds> begins{};
    std::vector<Word> free{};  // nodes that are not promised: the words of the zone, by period
    std::size_t width = 0;     // words of a period

    std::size_t size() const { return begins.size(); }
    const Word* nodes(std::size_t at) const { return free.data() + at * width; }
    Word* nodes(std::size_t at) { return free.data() + at * width; }
  };
  /// When a period of slurmctld's list begins.
  struct Begin {
    Seconds at = 0;
    int zones = 0;  // that change then
  };

  /// Returns the period at a time that is not before the first one.
  static std::size_t position(const Periods& periods, Seconds at);
  /// Whether all of `nodes` are free in a period.
  static bool includes(const Periods& periods, std::size_t at, std::span<const Word> nodes);
  std::vector<Begin>::iterator find(Seconds at);
  /// Returns how far a test looks whose job would end at `end`.
  Seconds horizon(Seconds end) const;
  /// Returns the period of a zone that begins at `at`, which is made if necessary.
  std::size_t cut(Periods& periods, Seconds at);
  /// Joins a period with the one before it if both have the same nodes.
  void join(Periods& periods, std::size_t second);

  const Zones& zones_;
  Seconds begin_ = 0;
  Seconds end_ = 0;
  std::vector<Periods> periods_;  // by zone
  std::vector<Begin> begins_;     // in order, without the first period's
  std::vector<Seconds> empty_;    // in order: times of begins_ at which no zone changes
  std::vector<Word> before_;      // what narrow() got; kept for its memory
};

}  // namespace almanac::slurmctld
