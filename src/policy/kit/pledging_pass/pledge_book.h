// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sets GPUs of coming leases aside for jobs that are to end by a deadline.
///
/// Time is cut into leases. A pledge is so many GPUs in each of some leases, the deadline leases of
/// the job: with those alone it ends in time. It is filled from the deadline backwards, so that
/// what is near stays free for deadlines that are near; what is then lent beyond the pledges makes
/// it smaller, the earliest lease first.
///
/// Stopping a job, or giving it another number of GPUs, costs work (RestartCost), and pledges count
/// that: a job whose leases lie apart needs more of them. So with exact run times a pledge holds.
///
/// Source   Gao et al., SoCC'21 (Chronus): leases, filled from the latest backwards; Gu et al.,
///          ASPLOS'23 (ElasticFlow), section 4: the minimum satisfactory share, the fewest GPUs
///          that are enough where in each lease as many are free.
/// Differs  both leave out what restarts cost; here part of a lease counts for what it is. What is
///          pledged is not shifted for a newcomer: as it lies as late as can be, there is little to
///          gain, and jobs of one GPU each lose nothing.
/// Cost     a step for each change of what is free, from the deadline back to the first lease that
///          is pledged; a few instructions for each lease in between.
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

/// A number of GPUs on which a job can run, and its speed there, beside that at which its run time
/// is known.
struct Level {
  int gpus = 1;
  int nodes = 0;  ///< As in Shaped.
  double rate = 1;
};

struct Pledge {
  /// Leases one after another with as many GPUs; there are few, however far the deadline is.
  struct Stretch {
    std::int64_t first = 0;  ///< The number of its first lease.
    std::int64_t last = 0;
    int gpus = 0;

    bool operator==(const Stretch&) const = default;
  };

  std::uint64_t gpu_type = 0;  ///< One bit: all its GPUs are of one type.
  /// The latest first; in leases in between that are in none it has nothing.
  std::vector<Stretch> stretches;

  int in(std::int64_t lease) const {
    const auto at = std::find_if(stretches.begin(), stretches.end(),
                                 [&](const Stretch& each) { return each.first <= lease; });
    return at == stretches.end() || at->last < lease ? 0 : at->gpus;
  }
  /// The most GPUs of any lease.
  int most() const {
    int gpus = 0;
    for (const Stretch& each : stretches) gpus = std::max(gpus, each.gpus);
    return gpus;
  }
};

/// Of one virtual cluster.
class PledgeBook {
 public:
  /// What a job needs.
  struct Need {
    double work_ms = 0;  ///< Still to do, at the speed at which its run time is known.
    Time deadline{};
    std::span<const Level> levels;  ///< What it can be given, fewest GPUs first.
    int held = 0;                   ///< GPUs that it has as the present lease goes on.
  };

  PledgeBook(Duration lease, Duration phase) : lease_(lease), phase_(phase) {}

  std::int64_t lease_at(Time at) const;
  Time begin(std::int64_t lease) const { return Time{phase_ + lease * lease_}; }

  /// Binds the present: what there is of each type, and what of it is free for new pledges in the
  /// present lease.
  void open(Time now, const RestartCost& restart, std::span<const cluster::Pool> pools);
  void set_free_now(std::uint64_t gpu_type, int gpus) { rows_[gpu_type].free_now = gpus; }

  /// The pledge of the fewest GPUs with which the job ends in time; nothing where none is enough.
  std::optional<Pledge> least(const Need& need, std::uint64_t gpu_type) const;
  /// The same of at most so many GPUs in any lease.
  std::optional<Pledge> within(const Need& need, std::uint64_t gpu_type, int most) const;
  /// The work that is done with what lies ahead of a pledge, what restarts cost taken off.
  double work_of(const Pledge& pledge, const Need& need) const;
  /// The work that a lease at `level` adds if the job then has `next` GPUs; kEnds = it has ended.
  double gain(std::int64_t lease, const Level& level, int next, Time deadline) const;
  /// What it costs to go from so many GPUs to so many.
  double change_ms(int from, int to) const {
    return from == 0 || from == to ? 0 : restart_ms(from);
  }
  double restart_ms(int gpus) const { return static_cast<double>(restart_.of(gpus).count()); }
  static constexpr int kEnds = -1;

  void add(const Pledge& pledge) { count(pledge, +1); }
  void remove(const Pledge& pledge) { count(pledge, -1); }
  /// As if all that are there were removed.
  void clear();
  int free(std::uint64_t gpu_type, std::int64_t lease) const;

 private:
  struct Row {
    int all = 0;
    int free_now = 0;         // for new pledges, in the present lease
    std::vector<int> taken;   // by lease; what is over is kept until it is as much as the rest
    std::size_t present = 0;  // where the present lease lies there

    int free(std::int64_t ahead) const {
      const std::size_t at = present + static_cast<std::size_t>(ahead);
      return all - (at < taken.size() ? taken[at] : 0);
    }
  };
  void count(const Pledge& pledge, int sign);
  /// How many leases before `lease`, but after the present one, have as much free, of at most so
  /// many GPUs.
  std::int64_t alike_before(const Row& row, std::int64_t lease, int most) const;
  /// The work of a lease that neither now nor a deadline cuts short.
  double whole(const Level& level) const {
    return static_cast<double>(lease_.count()) * level.rate;
  }

  Duration lease_;
  Duration phase_;
  Time now_{};
  std::int64_t present_ = 0;  // the lease of now
  RestartCost restart_;
  std::map<std::uint64_t, Row> rows_;  // by GPU type
};

}  // namespace almanac::policy
