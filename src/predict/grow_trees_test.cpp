// SPDX-License-Identifier: Apache-2.0
#include "predict/grow_trees.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <xgboost/c_api.h>

#include "base/rng.h"

namespace almanac::predict {
namespace {

struct Task {
  std::vector<Row> rows{};
  std::vector<int> labels{};
};

/// Columns of many and of few different values; a share of the values is missing.
Task task_of(std::size_t rows, double missing, std::uint64_t seed) {
  Rng rng(seed);
  Task task;
  for (std::size_t at = 0; at < rows; ++at) {
    Row row;
    for (std::size_t column = 0; column < kFeatures; ++column) {
      const double value = rng.normal() + (column % 7 == 0 ? 3 : 0);
      const bool is_coarse = column % 3 == 0;
      row[column] = static_cast<float>(is_coarse ? std::round(value) : 2 * value);
      if (rng.uniform() < missing) row[column] = kMissing;
    }
    const float known = std::isnan(row[1]) ? 0 : row[1];
    const double class_of = 3 + static_cast<double>(known) + rng.normal();
    task.rows.push_back(row);
    task.labels.push_back(std::clamp(static_cast<int>(class_of), 0, 5));
  }
  return task;
}

/// The trees that XGBoost grows, as its JSON has them.
nlohmann::json by_xgboost(const Task& task, const BoostOptions& options) {
  DMatrixHandle matrix = nullptr;
  XGDMatrixCreateFromMat_omp(task.rows.front().data(), task.rows.size(), kFeatures, kMissing,
                             &matrix, 1);
  const std::vector<float> labels(task.labels.begin(), task.labels.end());
  XGDMatrixSetFloatInfo(matrix, "label", labels.data(), labels.size());
  BoosterHandle booster = nullptr;
  XGBoosterCreate(&matrix, 1, &booster);
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"objective", "multi:softprob"},
           {"num_class", fmt::format("{}", options.classes)},
           {"tree_method", "hist"},
           {"max_bin", "64"},
           {"max_depth", fmt::format("{}", options.depth)},
           {"eta", fmt::format("{}", options.learning_rate)},
           {"min_child_weight", fmt::format("{}", options.min_child_weight)},
           {"subsample", fmt::format("{}", options.rows)},
           {"colsample_bytree", fmt::format("{}", options.columns)},
           {"nthread", "1"},
           {"seed", fmt::format("{}", options.seed)},
           {"verbosity", "0"}}) {
    XGBoosterSetParam(booster, name, value.c_str());
  }
  for (int round = 0; round < options.rounds; ++round) {
    EXPECT_EQ(XGBoosterUpdateOneIter(booster, round, matrix), 0) << XGBGetLastError();
  }
  bst_ulong length = 0;
  const char* bytes = nullptr;
  XGBoosterSaveModelToBuffer(booster, R"({"format":"json"})", &length, &bytes);
  nlohmann::json model = nlohmann::json::parse(std::string_view(bytes, length));
  XGBoosterFree(booster);
  XGDMatrixFree(matrix);
  return model["learner"]["gradient_booster"]["model"]["trees"];
}

void expect_same_trees(const Task& task, const BoostOptions& options) {
  const std::vector<GrownTree> grown = grow_trees(task.rows, task.labels, options);
  const nlohmann::json wanted = by_xgboost(task, options);
  ASSERT_EQ(grown.size(), wanted.size());
  for (std::size_t number = 0; number < grown.size(); ++number) {
    const GrownTree& tree = grown[number];
    const nlohmann::json& other = wanted[number];
    ASSERT_EQ(tree.size(), other["left_children"].size()) << "tree " << number;
    for (std::size_t at = 0; at < tree.size(); ++at) {
      SCOPED_TRACE(fmt::format("tree {}, node {}", number, at));
      const GrownNode& node = tree[at];
      ASSERT_EQ(node.left, other["left_children"][at].get<int>());
      ASSERT_EQ(node.column, other["split_indices"][at].get<int>());
      ASSERT_EQ(node.missing_left, other["default_left"][at].get<int>() != 0);
      ASSERT_EQ(node.value, other["split_conditions"][at].get<float>());
      ASSERT_EQ(node.gain, other["loss_changes"][at].get<float>());
      ASSERT_EQ(node.hessian, other["sum_hessian"][at].get<float>());
      ASSERT_EQ(node.weight, other["base_weights"][at].get<float>());
    }
  }
}

TEST(GrowTrees, GrowsTheTreesOfXgboostBitForBit) {
  const BoostOptions options{.classes = 6, .rounds = 3};
  expect_same_trees(task_of(300, 0.3, 1), options);
  // So many different values that the sketch of a column has several levels.
  expect_same_trees(task_of(9'000, 0.1, 2), options);
}

TEST(GrowTrees, GrowsTheTreesOfXgboostWhereNothingIsMissing) {
  expect_same_trees(task_of(2'000, 0, 3), {.classes = 6, .rounds = 3});
}

TEST(GrowTrees, GrowsTheTreesOfXgboostFromAllRowsAndColumns) {
  expect_same_trees(task_of(500, 0.2, 4),
                    {.classes = 6, .rounds = 2, .depth = 3, .rows = 1, .columns = 1});
}

TEST(GrowTrees, LeavesARootThatCannotBeSplit) {
  const Task task = task_of(20, 0.5, 5);
  const auto grown = grow_trees(task.rows, task.labels, {.classes = 6, .rounds = 1});
  ASSERT_EQ(grown.size(), 6);
  for (const GrownTree& tree : grown) EXPECT_EQ(tree.size(), 1);
  expect_same_trees(task, {.classes = 6, .rounds = 1});
}

}  // namespace
}  // namespace almanac::predict
