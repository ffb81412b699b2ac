// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies that clients of a service name.
#pragma once

#include <string>

#include "base/result.h"

namespace almanac::service {

/// Fails with usage if `policy` is a file. The service opens no file that a client names: the
/// service may be root, and a pipe of that name would block it.
Result<void> only_by_name(const std::string& policy);

}  // namespace almanac::service
