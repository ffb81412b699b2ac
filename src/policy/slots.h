// SPDX-License-Identifier: Apache-2.0

/// \file
/// The questions that a composed policy asks, each answered by a small file of order/ or
/// placement/.
#pragma once

#include <vector>

#include "base/ids.h"
#include "base/rng.h"
#include "base/time.h"
#include "cluster/ledger.h"
#include "policy/contract.h"

namespace almanac::policy {

/// A job as an order sees it.
struct Candidate {
  JobId job{};
  const trace::Request& request;
  Duration attained{};  ///< Time run so far.
  Duration believed{};  ///< Believed run time in all, restart work included.
};

/// Who is next: the least rank. Equal ranks: the least tie, then who has queued for longer.
class Order {
 public:
  virtual ~Order() = default;
  /// Rank of a job that waits, or that starts to run now.
  virtual double rank(const Candidate& job) const = 0;
  virtual double tie(const Candidate& job) const {
    static_cast<void>(job);
    return 0;
  }
  /// How much the rank of a running job falls in a millisecond.
  virtual double drift() const { return 0; }
  /// After how much more running the rank of a job jumps; kNoDuration = never.
  virtual Duration jumps_after(const Candidate& job) const {
    static_cast<void>(job);
    return kNoDuration;
  }
  /// Whether rank() reads Candidate::believed.
  virtual bool needs_estimate() const { return false; }
};

/// Where a job runs.
class Placement {
 public:
  virtual ~Placement() = default;
  /// Takes GPUs for `demand` in `ledger` and appends them to `grants`; or changes nothing and
  /// returns false. The answer depends only on ledger, demand and rng, and a demand for fewer GPUs
  /// of the same types fits wherever a larger one does.
  virtual bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
                     std::vector<cluster::Grant>& grants) const = 0;
  /// Whether place() draws from rng. If so it is asked no more and no less often than it takes to
  /// find a plan, or the draws of later jobs would depend on how cleverly that is done.
  virtual bool draws() const { return false; }
};

}  // namespace almanac::policy
