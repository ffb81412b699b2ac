// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lookup by exact name or a listed alias.
#pragma once

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/result.h"
#include "text/nearest.h"

namespace almanac::inference {

inline std::string in_lower_case(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

/// Returns the entry of `all` whose `name`, or one of whose `aliases`, is `name`, ignoring case.
template <typename Known>
std::optional<const Known*> find_named(const std::vector<Known>& all, std::string_view name) {
  const std::string asked = in_lower_case(name);
  for (const Known& each : all) {
    const auto is_meant = [&](const std::string& known) { return known == asked; };
    if (is_meant(each.name) || std::any_of(each.aliases.begin(), each.aliases.end(), is_meant)) {
      return &each;
    }
  }
  return std::nullopt;
}

/// Returns the error for an unknown name. A known name with a suffix is unknown: "h100-pcie"
/// differs from "h100" in ways that matter, so prefixes never match.
template <typename Known>
tl::unexpected<Error> no_such(const char* what, std::string_view name,
                              const std::vector<Known>& all, const std::string& instead = {}) {
  const std::string asked = in_lower_case(name);
  std::vector<std::string> names, near;
  for (const Known& each : all) {
    names.emplace_back(each.name);
    const std::string& known = names.back();
    if (asked.find(known) != std::string::npos || known.starts_with(asked)) near.push_back(known);
  }
  std::string hint;
  if (near.empty()) {
    hint = text::meant_or_known(asked, names);
  } else {
    hint = fmt::format("nearest: {}", fmt::join(near, ", "));
  }
  if (!instead.empty()) hint += "; " + instead;
  return fail(Code::not_found, fmt::format("no {} is named \"{}\"", what, name), {}, hint);
}

}  // namespace almanac::inference
