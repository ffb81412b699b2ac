// SPDX-License-Identifier: Apache-2.0

/// \file
/// The OpenAPI document that the service serves.
#pragma once

#include <string>

namespace almanac::serve {

/// Returns openapi.json, with the attributes of store/ask.h in its schemas of submissions and jobs.
std::string api_document();

}  // namespace almanac::serve
