// SPDX-License-Identifier: Apache-2.0

/// \file
/// Asserts on what a recipe makes of the shared data.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "reproduce/recipe.h"
#include "support/shared_data.h"

namespace almanac::reproduce {

inline bool says(const Row& row, std::string_view words) {
  return row.what.find(words) != std::string::npos;
}

/// The outcome of a recipe on the shared data, of which every file must be whole; nothing where
/// these are not at hand.
inline std::optional<Outcome> made(const std::string& recipe) {
  const auto root = shared_path("golden");
  const Recipe* const found = recipes().find(recipe);
  EXPECT_NE(found, nullptr) << recipe;
  if (!root || found == nullptr) return std::nullopt;
  Outcome outcome = reproduce(*found, root->substr(0, root->rfind('/')));
  for (const Error& error : outcome.malformed) ADD_FAILURE() << to_string(error);
  for (const Need& need : outcome.absent) ADD_FAILURE() << need.files << " is absent";
  EXPECT_FALSE(outcome.rows.empty() && outcome.findings.empty()) << recipe;
  for (const Row& row : outcome.rows) {
    EXPECT_FALSE(std::isnan(row.published)) << row.what << " is no comparison";
  }
  return outcome;
}

/// Each row is as near to what is published as `within(row)` says.
inline void expect_near(const Outcome& outcome, const std::function<double(const Row&)>& within) {
  for (const Row& row : outcome.rows) {
    EXPECT_NEAR(row.ours, row.published, within(row)) << row.what;
  }
}

}  // namespace almanac::reproduce

/// Goes on with `outcome`, what the recipe made, or skips the test.
#define ALMANAC_MADE_OR_SKIP(outcome, recipe)            \
  const auto outcome = almanac::reproduce::made(recipe); \
  if (!outcome) GTEST_SKIP() << "the shared data are not at hand: ALMANAC_SHARED"
