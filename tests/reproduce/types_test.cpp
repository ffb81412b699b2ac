// SPDX-License-Identifier: Apache-2.0

/// \file
/// How near programs over GPU types and their simulators come to what is published.
#include "reproduce/rows.h"

namespace almanac::reproduce {
namespace {

// Pairs are published as an interior-point method left them.
TEST(Recipes, GavelIsMatchedProblemByProblemAndJobByJob) {
  ALMANAC_MADE_OR_SKIP(outcome, "gavel");
  expect_near(*outcome, [](const Row& row) {
    if (row.unit == "jobs") return 0.0;
    return (says(row, "packed") ? 1e-5 : 1e-6) * std::max(std::abs(row.published), 1e-6);
  });
}

// Utilisations are printed with six digits behind the point.
TEST(Recipes, AlloxIsMatchedJobByJob) {
  ALMANAC_MADE_OR_SKIP(outcome, "allox");
  expect_near(*outcome, [](const Row& row) {
    if (row.unit == "jobs") return 0.0;
    return says(row, "utilisation") ? 0.6e-6 : 1e-6 * row.published;
  });
}

// What hangs on a program's choice among its best answers is near in its means only.
TEST(Recipes, ShockwavesGandivaFairIsMatchedGpuByGpu) {
  ALMANAC_MADE_OR_SKIP(outcome, "shockwave");
  expect_near(*outcome, [](const Row& row) {
    if (says(row, "gandiva_fair")) return 1e-6;
    if (!says(row, "mean JCT") && !says(row, "makespan")) return row.published;
    if (says(row, "allox")) return 0.01 * row.published;
    // Another solver, and another order within a plan (rules/timeshare/market.h).
    if (says(row, "shockwave")) return 0.1 * row.published;
    const bool makespan_rule = says(row, "min_total_duration") && says(row, "mean JCT");
    return (makespan_rule ? 0.07 : 0.02) * row.published;
  });
}

}  // namespace
}  // namespace almanac::reproduce
