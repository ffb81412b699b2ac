// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gradient-boosted trees that tell how likely each class is. XGBoost reads, writes and explains
/// them, here and nowhere else; grow_trees.h grows them as XGBoost would.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/features.h"

namespace almanac::predict {

struct BoostOptions {
  int classes = 12;
  int rounds = 25;  ///< Each grows a tree for every class.
  int depth = 5;
  double learning_rate = 0.2;
  double min_child_weight = 5;
  double rows = 0.7;     ///< Share of the rows that a tree sees.
  double columns = 0.5;  ///< Share of the columns that a tree sees.
  std::uint64_t seed = 1;
  std::function<void(double)> progress{};  ///< Told the share that is grown; may be empty.
};

class Boosted {
 public:
  /// Learns from rows and their classes (0 .. classes-1). Deterministic, and therefore on one
  /// thread: sums in another order make other trees. Runs and sweeps use the other threads.
  static Boosted fit(std::span<const Row> rows, std::span<const int> labels,
                     const BoostOptions& options);
  /// How likely each class is; `probabilities` has one place for each. A few us: the trees are
  /// walked here, since asking XGBoost about a single row costs ten times as much.
  void predict(const Row& row, std::span<float> probabilities) const;
  /// What each feature adds to the log-odds of each class: classes x (kFeatures + 1), the last of
  /// each class being what it starts from (TreeSHAP).
  std::vector<float> contributions(const Row& row) const;
  int classes() const;

  /// The trees as bytes; load() makes them anew, and fails with corrupt.
  std::string save() const;
  static Result<Boosted> load(std::string_view bytes, int classes);

  Boosted(Boosted&&) noexcept;
  Boosted& operator=(Boosted&&) noexcept;
  ~Boosted();

 private:
  struct State;
  explicit Boosted(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace almanac::predict
