// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reserves GPUs of future leases for jobs with a deadline.
///
/// Time is divided into leases. A pledge is a number of GPUs in each of some leases, the deadline
/// leases of the job; with those alone it ends in time. It is filled backwards from the deadline,
/// so that near leases stay free for near deadlines. GPUs lent beyond the pledges make it smaller,
/// the earliest lease first.
///
/// Stopping a job, or changing its number of GPUs, costs work (RestartCost). Pledges include that,
/// so a job with separate leases needs more of them. With exact run times, a pledge is therefore
/// enough.
///
/// Source   Gao et al., SoCC'21 (Chronus): leases, filled from the latest backwards; Gu et al.,
///          ASPLOS'23 (ElasticFlow), section 4: the minimum satisfactory share, the fewest GPUs
///          that are enough if each lease has that many free.
/// Differs  Both ignore the cost of restarts; here a part of a lease counts as such. Pledges are
///          not moved for a new job: they are as late as possible, so there is little to gain, and
///          for one-GPU jobs nothing.
/// Cost     a step for each change of free GPUs, from the deadline back to the first pledged lease;
///          a few instructions for each lease in between
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "cluster/ledger.h"
#include "policy/contract/restart_cost.h"

namespace almanac::policy {

/// A number of GPUs on which a job can run, and its speed there, relative to the speed of its known
/// run time.
struct Level {
  int gpus = 1;
  int nodes = 0;  ///< As in Shaped.
  double rate = 1;
};

struct Pledge {
  /// Successive leases with the same number of GPUs; there are few, however far the deadline is.
  struct Stretch {
    std::int64_t first = 0;  ///< Number of its first lease.
    std::int64_t last = 0;
    int gpus = 0;

    bool operator==(const Stretch&) const = default;
  };

  std::uint64_t gpu_type = 0;  ///< One bit; all its GPUs are of one type.
  /// The latest first; leases outside of them have no GPUs.
  std::vector<Stretch> stretches;

  int in(std::int64_t lease) const {
    const auto at = std::find_if(stretches.begin(), stretches.end(),
                                 [&](const Stretch& each) { return each.first <= lease; });
    return at == stretches.end() || at->last < lease ? 0 : at->gpus;
  }
  /// Returns the most GPUs of any lease.
  int most() const {
    int gpus = 0;
    for (const Stretch& each : stretches) gpus = std::max(gpus, each.gpus);
    return gpus;
  }
};

/// The pledges of one virtual cluster.
class PledgeBook {
 public:
  /// What a job needs.
  struct Need {
    double work_ms = 0;  ///< Remaining work, at the speed of its known run time.
    Time deadline{};
    std::span<const Level> levels;  ///< What it can get, fewest GPUs first.
    int held = 0;                   ///< GPUs that it holds during the current lease.
  };

  PledgeBook(Duration lease, Duration phase) : lease_(lease), phase_(phase) {}

  std::int64_t lease_at(Time at) const;
  Time begin(std::int64_t lease) const { return Time{phase_ + lease * lease_}; }

  /// Sets the current time and the GPUs of each type. Then set_free_now() sets what is free for new
  /// pledges in the current lease.
  void open(Time now, const RestartCost& restart, std::span<const cluster::Pool> pools);
  void set_free_now(std::uint64_t gpu_type, int gpus) { rows_[gpu_type].free_now = gpus; }

  /// Returns the pledge of the fewest GPUs with which the job ends in time; nothing if none is
  /// enough.
  std::optional<Pledge> least(const Need& need, std::uint64_t gpu_type) const;
  /// Returns the same with at most `most` GPUs in any lease.
  std::optional<Pledge> within(const Need& need, std::uint64_t gpu_type, int most) const;
  /// Returns the work done with the rest of a pledge, minus the cost of restarts.
  double work_of(const Pledge& pledge, const Need& need) const;
  /// Returns the work that a lease at `level` adds if the job has `next` GPUs after it; kEnds if it
  /// ends.
  double gain(std::int64_t lease, const Level& level, int next, Time deadline) const;
  /// Returns the cost, in ms of work, of changing the number of GPUs.
  double change_ms(int from, int to) const {
    return from == 0 || from == to ? 0 : restart_ms(from);
  }
  double restart_ms(int gpus) const { return static_cast<double>(restart_.of(gpus).count()); }
  static constexpr int kEnds = -1;

  void add(const Pledge& pledge) { count(pledge, +1); }
  void remove(const Pledge& pledge) { count(pledge, -1); }
  /// Removes all pledges.
  void clear();
  int free(std::uint64_t gpu_type, std::int64_t lease) const;

 private:
  struct Row {
    int all = 0;
    int free_now = 0;         // for new pledges in the current lease
    std::vector<int> taken;   // by lease; past ones are kept until they are as many as the rest
    std::size_t present = 0;  // position of the current lease

    int free(std::int64_t ahead) const {
      const std::size_t at = present + static_cast<std::size_t>(ahead);
      return all - (at < taken.size() ? taken[at] : 0);
    }
  };
  void count(const Pledge& pledge, int sign);
  /// Returns how many leases before `lease`, after the current one, have the same number of free
  /// GPUs, capped at `most`.
  std::int64_t alike_before(const Row& row, std::int64_t lease, int most) const;
  /// Returns the work of a lease that neither the current time nor a deadline cuts short.
  double whole(const Level& level) const {
    return static_cast<double>(lease_.count()) * level.rate;
  }

  Duration lease_;
  Duration phase_;
  Time now_{};
  std::int64_t present_ = 0;  // the current lease
  RestartCost restart_;
  std::map<std::uint64_t, Row> rows_;  // by GPU type
};

}  // namespace almanac::policy
