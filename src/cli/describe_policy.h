// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a policy, or a part of policies, is made of, needs and does: for policy describe, policy
/// list and help.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "policy/composition.h"
#include "policy/shelf.h"

namespace almanac::cli {

nlohmann::ordered_json policy_json(const policy::Composition& composition);
nlohmann::ordered_json part_json(const policy::Entry& entry);

/// Names of all policies and of all parts of policies.
std::vector<std::string> policy_and_part_names();

/// Prints a description of the policy that `name` composes. If there is none of that name, or
/// `name` begins with a plus as in "+easy", describes the part. Fails as Registry::compose() does.
Result<int> describe_policy(const std::string& name, bool as_json);

}  // namespace almanac::cli
