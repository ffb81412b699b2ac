// SPDX-License-Identifier: Apache-2.0

/// \file
/// Creates the policy of a host. A policy must not be able to find out which host runs it, so each
/// kind of host lists what it provides. No entry has a default: a host without something says so,
/// and a missing entry does not compile (warnings are errors).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/time.h"
#include "policy/composition.h"
#include "policy/contract/contract.h"
#include "policy/contract/host.h"

namespace almanac::schedule {

/// Usage of jobs and owners before the policy began; null if unknown.
using PastUses = std::shared_ptr<const std::vector<policy::PastUse>>;

/// Rules of a site that bind any policy.
struct SiteRules {
  Duration age_cap;                    ///< See policy::age_capped(); kNoDuration for no cap.
  std::function<bool(JobId)> is_kept;  ///< Jobs that policies must not stop or move; empty for
                                       ///< none.
};

/// For sites without rules, and where another program enforces them.
inline const SiteRules kNoSiteRules{.age_cap = kNoDuration, .is_kept = {}};

/// The host of jobs that really run.
struct RealHost {
  std::unique_ptr<predict::Estimator> estimator;  ///< Null if no choice needs an estimate.
  PastUses past_use;
  policy::PastReports past_reports;                  ///< Empty if nothing was reported.
  std::shared_ptr<predict::TypeSpeeds> type_speeds;  ///< Null if the policy must not learn them.
  policy::MayShare may_share;                        ///< Empty = all jobs may.
  policy::IsOn is_on;                                ///< Empty = all nodes are.
  policy::KnownSite site;
};

/// The host of a simulation that starts at some moment: a replayed past, as in a shadow, a canary
/// and advice, or a drawn future. Run times do not depend on the type of GPU there, so there is
/// nothing to learn about types.
struct PlayedHost {
  std::unique_ptr<predict::Estimator> estimator;
  PastUses past_use;
  policy::KnownSite site;
};

/// The host of a log that is simulated from its first job on: nothing was used before.
struct SimulatedHost {
  std::unique_ptr<predict::Estimator> estimator;
  bool binds;         ///< See policy::Host.
  bool learns_types;  ///< The policy learns how fast jobs are on types of GPUs.
  policy::KnownSite site;
};

std::unique_ptr<policy::Policy> make_policy(const policy::Composition& composition, RealHost host,
                                            const SiteRules& rules);
std::unique_ptr<policy::Policy> make_policy(const policy::Composition& composition, PlayedHost host,
                                            const SiteRules& rules);
std::unique_ptr<policy::Policy> make_policy(const policy::Composition& composition,
                                            SimulatedHost host);

}  // namespace almanac::schedule
