// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the real traces and golden outputs, which are not part of the project: in
/// $ALMANAC_SHARED, or in a folder `shared` beside the checkout.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace almanac {

/// Adds a line to the file $ALMANAC_MISSING_DATA, by which ./test counts what could not be tested.
inline void note_missing_data(const std::string& relative) {
  if (const char* const list = std::getenv("ALMANAC_MISSING_DATA")) {
    std::ofstream(list, std::ios::app) << relative + "\n";
  }
}

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
  if (root.empty() || !fs::exists(found)) {
    note_missing_data(relative);
    return std::nullopt;
  }
  return found.string();
}

}  // namespace almanac
