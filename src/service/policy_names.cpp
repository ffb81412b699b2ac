// SPDX-License-Identifier: Apache-2.0
#include "service/policy_names.h"

#include <fmt/format.h>

namespace almanac::service {

Result<void> only_by_name(const std::string& policy) {
  const bool is_file = policy.ends_with(".toml") || policy.find('/') != std::string::npos;
  if (!is_file) return {};
  return fail(Code::usage,
              fmt::format("a service opens no policy file that a client names, found {}", policy),
              {}, "give the name of a policy, or start the service with --policy FILE");
}

}  // namespace almanac::service
