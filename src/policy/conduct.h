// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a policy needs of a log and of a cluster, and what it does to jobs, in words. They are
/// derived from traits (Registry::traits) and from what choices say of themselves (Entry::explain).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/composition.h"
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

/// Returns both as sentences, followed by what the choices of the policy say of themselves. Never
/// empty.
std::vector<std::string> sentences_of(const Composition& composition);

/// "easy+proven": a policy with the part `name`, which must exist.
std::string example_with(std::string_view name);

}  // namespace almanac::policy
