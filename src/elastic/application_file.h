// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads applications from the tables published with Pollux.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "elastic/application.h"

namespace almanac::elastic {

/// All applications of `file` by name, with the segments of `folder`/interpolation and, of
/// `profiles`/NAME, the measured placements and validation runs. Fails with not_found or invalid.
Result<std::map<std::string, Application>> read_applications(const std::string& file,
                                                             const std::string& folder,
                                                             const std::string& profiles);

}  // namespace almanac::elastic
