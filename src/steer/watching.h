// SPDX-License-Identifier: Apache-2.0

/// \file
/// What watches a Slurm cluster from threads of its own: forecasts, and the shadow.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "service/foresight.h"
#include "service/shadow.h"
#include "sim/compactions.h"
#include "steer/known.h"
#include "steer/steering.h"

namespace almanac::steer {

/// All functions take the lock, but for those that say so.
class Watching {
 public:
  Watching(Known& known, const Steering& steering) : known_(known), steering_(steering) {}

  /// Watches the cluster as it is now, under the policy and the shadow of now.
  void look_on();
  std::optional<service::Comparison> shadow() const;
  std::optional<service::Expected> expect(store::JobNumber number, Duration patience) const;
  Result<std::optional<service::Expected>> foresee(const store::Submission& asked) const;
  /// The last forecast for a job. Under the lock.
  std::optional<service::Expected> expected(store::JobNumber number) const;
  Result<sim::Compactions> compactions() const;

 private:
  /// Watches one cluster, which must not change.
  struct Watchers;

  /// The jobs that the policy sees wait: in its own order where it decides, else in Slurm's. Under
  /// the lock.
  std::vector<slurm::JobNumber> queue() const;
  /// The outlook of this world; without jobs where it is another by now, or where Slurm decides.
  service::Outlook outlook(const World& world);
  slurm::Limits limits() const;
  std::shared_ptr<Watchers> watchers() const;

  Known& known_;
  const Steering& steering_;
  std::shared_ptr<Watchers> watchers_;  // null = the cluster has not been looked at
};

}  // namespace almanac::steer
