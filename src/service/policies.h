// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies of the registry as a live service can use them, without knowledge of the future.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
/// unsupported if a policy needs what one machine does not have: nodes to power down, a table of
/// speeds, signals.
Result<policy::Composition> compose(const std::string& text);

/// What runs where no true run times are known, as compose() reads it: "srtf+rolling" for "srtf",
/// "easy+rolling" for "easy+oracle". Nothing if `text` runs as it is, and for a file.
std::optional<std::string> stand_in(const std::string& text);
/// Says which part of a policy has no effect in a service: true run times, the predictions of a
/// log, a packing that needs speed models, unless policies get them. "" if every part has one.
std::string live_note(const std::string& text, bool gives_speeds = false);

/// Replaces an estimate that only a simulation of the past can have by the paper's rolling one.
void take_no_truth(policy::Composition& composition);

/// Takes off a shape that revises waiting jobs within the range of GPUs that they allow. Slurm
/// fixes each job's GPUs at submission, so there the policy decides the same without it.
void take_no_ranges(policy::Composition& composition);

/// Keys of a store for the chosen policy and for the shadow policy.
inline constexpr const char* kPolicyKey = "policy";
inline constexpr const char* kShadowKey = "shadow";
/// Reads the chosen policy from a store, unless another one is given, and the shadow if none is
/// given. Fails as the store does.
Result<void> take_kept_policies(const store::Store& store, bool policy_is_told, std::string& policy,
                                std::string& shadow);
/// Says in the error of compose() that the policy is the chosen one of a store, and how to start
/// the service with another one.
Error of_kept_policy(Error error);
/// "1" from the start of a service until its policy has learned from the ended jobs.
inline constexpr const char* kLearnsKey = "learns";

/// Policies do not learn from jobs that ended earlier, or before this number of others.
inline constexpr Duration kLesson = 24h * 90;
inline constexpr std::int64_t kLessons = 100'000;

/// The estimator of `composition` for jobs of `trace`, after it has learned from `lessons`. The
/// names of `trace` must outlive it.
std::unique_ptr<predict::Estimator> taught_estimator(const policy::Composition& composition,
                                                     const trace::Trace& trace,
                                                     std::span<const trace::Job> lessons);

/// Lets `pupil` learn from those of `lessons` that have run.
void teach_ended(predict::Estimator& pupil, std::span<const trace::Job> lessons);

}  // namespace almanac::service
