// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a policy needs of a log and of a cluster, and what it does to jobs, in words: all of it is
/// derived from traits (Registry::traits).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/traits.h"

namespace almanac::policy {

/// Whether a policy is told what only the past can tell. Its figures are a bound for others: no
/// cluster can run it as it is, so it is never recommended.
bool is_bound(const TraitSet& traits);

/// "true run times", "deadlines", "checkpoints": what it needs, or would have nothing to work on
/// without.
std::vector<std::string> needs_of(const TraitSet& traits);

/// "stops jobs", "moves jobs": what it does beside starting jobs as they ask.
std::vector<std::string> deeds_of(const TraitSet& traits);

/// Both in sentences, one at least.
std::vector<std::string> sentences_of(const TraitSet& traits);

/// "easy+proven": a policy with the part `name`, which must exist.
std::string example_with(std::string_view name);

}  // namespace almanac::policy
