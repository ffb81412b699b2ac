// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes the policy of a host. A policy must not find out from what it is given who asks it, so
/// each kind of host has one list of what it gives. No entry has a default: a host that has nothing
/// to give says so, and one that forgets an entry does not compile (warnings are errors).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/time.h"
#include "policy/composition.h"
#include "policy/contract/contract.h"
#include "policy/contract/host.h"

namespace almanac::schedule {

/// What jobs and owners used before the policy began; null = nothing is known of it.
using PastUses = std::shared_ptr<const std::vector<policy::PastUse>>;

/// What a site has any policy keep to.
struct SiteRules {
  Duration age_cap;                    ///< As policy::age_capped() takes it; kNoDuration = none.
  std::function<bool(JobId)> is_kept;  ///< Jobs that policies leave alone; empty = none is.
};

/// The rules where a site has none, or another program enforces them.
inline const SiteRules kNoSiteRules{.age_cap = kNoDuration, .is_kept = {}};

/// The host of jobs that really run.
struct RealHost {
  std::unique_ptr<predict::Estimator> estimator;  ///< Null where no choice asks an estimate.
  PastUses past_use;
  policy::PastReports past_reports;                  ///< Empty = nothing was reported.
  std::shared_ptr<predict::TypeSpeeds> type_speeds;  ///< Null = the policy is not to learn them.
  policy::MayShare may_share;                        ///< Empty = all jobs may.
  policy::IsOn is_on;                                ///< Empty = all nodes are.
};

/// The host of jobs that are played from some moment on: a past again, as a shadow, a canary and
/// advice do, or a drawn future. Their run times do not depend on the type of GPU, so there is
/// nothing to learn of types.
struct PlayedHost {
  std::unique_ptr<predict::Estimator> estimator;
  PastUses past_use;
};

/// The host of a log that is simulated from its first job on: nothing was used before.
struct SimulatedHost {
  std::unique_ptr<predict::Estimator> estimator;
  bool binds;         ///< As policy::Host has it.
  bool learns_types;  ///< The policy learns how fast jobs are on types of GPUs.
};

std::unique_ptr<policy::Policy> make_policy(const policy::Composition& composition, RealHost host,
                                            const SiteRules& rules);
std::unique_ptr<policy::Policy> make_policy(const policy::Composition& composition, PlayedHost host,
                                            const SiteRules& rules);
std::unique_ptr<policy::Policy> make_policy(const policy::Composition& composition,
                                            SimulatedHost host);

}  // namespace almanac::schedule
