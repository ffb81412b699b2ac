// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the objects that an API server sends.
#pragma once

#include <functional>
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

/// Reads a list in the same way. Passes each of its items to `take` as it is read and leaves it out
/// of the value: a server may answer with all objects in one page.
nlohmann::json parse_list(std::string_view text,
                          const std::function<void(const nlohmann::json& item)>& take);

}  // namespace almanac::kube
