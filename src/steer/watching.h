// SPDX-License-Identifier: Apache-2.0

/// \file
/// Watches a managed cluster from other threads: forecasts and the shadow policy.
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

/// All functions take the lock unless they say otherwise.
class Watching {
 public:
  Watching(Known& known, const Steering& steering) : known_(known), steering_(steering) {}

  /// Watches the present cluster, under the present policy and shadow.
  void look_on();
  std::optional<service::Comparison> shadow() const;
  std::optional<service::Expected> expect(store::JobNumber number, Duration patience) const;
  Result<std::optional<service::Expected>> foresee(const store::Submission& asked) const;
  Result<std::optional<service::ChangedForecasts>> foresee(
      const std::vector<std::string>& changes) const;
  Result<std::optional<service::StartsIf>> starts_if(store::JobNumber number) const;
  /// The last forecast for a job. Under the lock.
  std::optional<service::Expected> expected(store::JobNumber number) const;
  Result<sim::Compactions> compactions() const;

 private:
  /// Watches one cluster, which must not change.
  struct Watchers;

  /// The waiting jobs that the policy sees: in its order if it decides, else in the manager's.
  /// Under the lock.
  std::vector<manager::JobNumber> queue() const;
  /// The outlook of this world; without jobs if the world has changed.
  service::Outlook outlook(const World& world);
  manager::Limits limits() const;
  std::shared_ptr<Watchers> watchers() const;

  Known& known_;
  const Steering& steering_;
  std::shared_ptr<Watchers> watchers_;  // null = the cluster has not been looked at
};

}  // namespace almanac::steer
