// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the real traces and golden outputs, which are not part of the project: in
/// $ALMANAC_SHARED, or in a folder `shared` beside the checkout.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace almanac {

/// The path of a shared file; nothing when it is absent. Tests then skip, saying so.
inline std::optional<std::string> shared_path(const std::string& relative) {
  namespace fs = std::filesystem;
  fs::path root;
  if (const char* given = std::getenv("ALMANAC_SHARED")) {
    root = given;
  } else if (const char* source = std::getenv("ALMANAC_SOURCE_DIR")) {
    root = fs::path(source).parent_path() / "shared";
  }
  const fs::path found = root / relative;
  if (root.empty() || !fs::exists(found)) return std::nullopt;
  return found.string();
}

}  // namespace almanac
