// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies of the registry as a live service can have them: what the truth would tell is
/// estimated.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "policy/composition.h"
#include "policy/contract/contract.h"
#include "predict/estimator.h"
#include "store/store.h"
#include "trace/trace.h"

namespace almanac::service {

/// The composition that `text` names. An estimate that only a simulation can have (oracle, noisy,
/// given) becomes the paper's rolling one. Fails with usage as Registry::compose() does, and with
/// unsupported where a policy needs what one machine has not: nodes to turn off, a table of speeds.
Result<policy::Composition> compose(const std::string& text);

/// Makes an estimate that only a simulation of the past can have the paper's rolling one.
void take_no_truth(policy::Composition& composition);

/// Under which a store keeps the policy that was chosen, and the one that is compared with it.
inline constexpr const char* kPolicyKey = "policy";
inline constexpr const char* kShadowKey = "shadow";
/// Takes from a store the policy that was chosen, unless another is told, and the shadow where none
/// is. Fails as the store does.
Result<void> take_kept_policies(const store::Store& store, bool policy_is_told, std::string& policy,
                                std::string& shadow);
/// "1" from when a service begins until its policy has learned from the jobs that have ended.
inline constexpr const char* kLearnsKey = "learns";

/// Jobs that ended earlier, or before so many others, teach nothing about those of today.
inline constexpr Duration kLesson = 24h * 90;
inline constexpr std::int64_t kLessons = 100'000;

/// What `composition` believes of jobs of `trace`, having seen those of `lessons` that have ended.
/// `trace`'s names must outlive it.
std::unique_ptr<predict::Estimator> taught_estimator(const policy::Composition& composition,
                                                     const trace::Trace& trace,
                                                     std::span<const trace::Job> lessons);

}  // namespace almanac::service
