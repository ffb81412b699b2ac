// SPDX-License-Identifier: Apache-2.0

/// \file
/// Stores each distinct string once and numbers them.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"

namespace almanac {

/// An append-only pool of strings. NameId 0 is the empty string, which means "not given".
class Names {
 public:
  Names() { intern(""); }
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;
  ~Names() = default;

  /// Returns the number of `text`, which may be new. Cost: linear in its length.
  NameId intern(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const NameId id{static_cast<std::uint32_t>(texts_.size())};
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  /// Returns the number of `text`; nothing if the pool does not have it.
  std::optional<NameId> find(std::string_view text) const {
    const auto found = ids_.find(text);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
  }
  /// Returns the string, valid as long as the pool.
  std::string_view operator[](NameId id) const { return texts_[index(id)]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque, so that the views in ids_ stay valid
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace almanac
