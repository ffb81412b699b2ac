// SPDX-License-Identifier: Apache-2.0
#include "schedule/hosts.h"

#include <utility>

#include "policy/kit/age_cap.h"
#include "policy/kit/keeping.h"
#include "policy/registry.h"

namespace almanac::schedule {
namespace {

/// The age cap counts for jobs that the policy decides about, so that it lies within.
std::unique_ptr<policy::Policy> under(const SiteRules& rules,
                                      const policy::Composition& composition, policy::Host host) {
  auto made = policy::age_capped(policy::registry().make(composition, std::move(host)), composition,
                                 rules.age_cap);
  if (!rules.is_kept) return made;
  return policy::keeping(std::move(made), composition, rules.is_kept);
}

}  // namespace

std::unique_ptr<policy::Policy> make_policy(const policy::Composition& composition, RealHost host,
                                            const SiteRules& rules) {
  return under(rules, composition,
               {.estimator = std::move(host.estimator),
                .may_share = std::move(host.may_share),
                .is_on = std::move(host.is_on),
                .past_use = std::move(host.past_use),
                .past_reports = std::move(host.past_reports),
                .type_speeds = std::move(host.type_speeds),
                .site = std::move(host.site)});
}

std::unique_ptr<policy::Policy> make_policy(const policy::Composition& composition, PlayedHost host,
                                            const SiteRules& rules) {
  return under(rules, composition,
               {.estimator = std::move(host.estimator),
                .past_use = std::move(host.past_use),
                .site = std::move(host.site)});
}

std::unique_ptr<policy::Policy> make_policy(const policy::Composition& composition,
                                            SimulatedHost host) {
  return policy::registry().make(
      composition,
      {.estimator = std::move(host.estimator),
       .binds = host.binds,
       .type_speeds = host.learns_types ? std::make_shared<predict::TypeSpeeds>() : nullptr,
       .site = std::move(host.site)});
}

}  // namespace almanac::schedule
