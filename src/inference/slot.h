// SPDX-License-Identifier: Apache-2.0

/// \file
/// The choices for one slot of a registry.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace almanac::inference {

/// The choices for one slot, by name.
template <typename Make>
class Slot {
 public:
  struct Entry {
    std::string name;
    std::string summary;
    std::string source;  ///< Paper or program and section.
    Make make;
  };
  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  const std::vector<Entry>& entries() const { return entries_; }
  /// Returns null if no choice has that name.
  const Entry* find(std::string_view name) const {
    for (const Entry& each : entries_) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Entry& each : entries_) names.push_back(each.name);
    return names;
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace almanac::inference
