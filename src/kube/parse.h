// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the objects that an API server sends.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace almanac::kube {

/// Reads lists and events. Returns a discarded value for text that is not JSON.
///
/// Text of strangers becomes safe to print: control characters in texts and names become spaces.
/// Values nested deeper than 64 become null. Parts of pods and nodes that Almanac never looks at,
/// such as environments, volumes and probes, are left out, and so is who wrote which field, but for
/// spec.priority: they are most of an object.
nlohmann::json parse_objects(std::string_view text);

}  // namespace almanac::kube
