// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a policy needs of a log and of a cluster, and what it does to jobs, in words. All of it is
/// derived from traits (Registry::traits).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/traits.h"

namespace almanac::policy {

/// Whether a policy is an oracle: it receives what is only known of the past. Its results are an
/// upper bound; no cluster can run it as it is, so it is never recommended.
bool is_bound(const TraitSet& traits);

/// Returns, for example, "true run times", "deadlines", "checkpoints": what the policy needs, or
/// what gives it something to do.
std::vector<std::string> needs_of(const TraitSet& traits);

/// Returns, for example, "stops jobs", "moves jobs": what it does apart from starting jobs as
/// requested.
std::vector<std::string> deeds_of(const TraitSet& traits);

/// Returns both as sentences, at least one.
std::vector<std::string> sentences_of(const TraitSet& traits);

/// "easy+proven": a policy with the part `name`, which must exist.
std::string example_with(std::string_view name);

}  // namespace almanac::policy
