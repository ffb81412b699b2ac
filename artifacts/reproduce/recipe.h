// SPDX-License-Identifier: Apache-2.0

/// \file
/// A recipe makes one published table or figure again. Each file of reproduce/recipe/ defines
/// `void register_<stem>(Recipes&)`; the build finds it.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reproduce/bench.h"

namespace almanac::reproduce {

/// One published table, figure or set of runs.
struct Recipe {
  std::string name{};     ///< "helios-table3": as the user calls it.
  std::string summary{};  ///< What is made again, in a line.
  std::string paper{};    ///< "Hu et al., SC'21, Table 3".
  /// Of the published numbers, if a need or a row says no other.
  Kind kind = Kind::figure;
  std::vector<Need> needs{};
  bool takes_minutes = false;  ///< It is not among those that `all` means.
  /// Reads files of the bench and adds rows to it. What is wrong with a file is thrown as
  /// Malformed.
  std::function<void(Bench&)> make{};
};

class Recipes {
 public:
  /// Aborts when there is one of that name.
  void add(Recipe recipe);
  const std::vector<Recipe>& all() const { return recipes_; }
  /// Null = no recipe has that name.
  const Recipe* find(std::string_view name) const;

 private:
  std::vector<Recipe> recipes_;
};

/// All of them, in the order of their files.
const Recipes& recipes();

/// What `recipe` makes of the public data in `folder`. `done` as Bench has it.
Outcome reproduce(const Recipe& recipe, const std::string& folder,
                  std::atomic<double>* done = nullptr);

}  // namespace almanac::reproduce
