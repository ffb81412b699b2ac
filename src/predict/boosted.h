// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gradient-boosted trees that predict the probability of each class. XGBoost reads, writes and
/// explains them, only here; grow_trees.h grows them exactly as XGBoost would.
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
  int rounds = 25;  ///< Each round grows one tree per class.
  int depth = 5;
  double learning_rate = 0.2;
  double min_child_weight = 5;
  double rows = 0.7;     ///< Fraction of the rows that a tree sees.
  double columns = 0.5;  ///< Fraction of the columns that a tree sees.
  std::uint64_t seed = 1;
  std::function<void(double)> progress{};  ///< Receives the completed fraction; may be empty.
};

class Boosted {
 public:
  /// Learns from rows and their classes (0 .. classes-1). Deterministic, and therefore on one
  /// thread: sums in another order give other trees. Runs and sweeps use the other threads.
  static Boosted fit(std::span<const Row> rows, std::span<const int> labels,
                     const BoostOptions& options);
  /// Writes the probability of each class to `probabilities`, which has `classes()` places. Takes a
  /// few us: it walks the trees itself, because XGBoost takes ten times as long for a single row.
  void predict(const Row& row, std::span<float> probabilities) const;
  /// Returns what each feature adds to the log-odds of each class (TreeSHAP): classes x (kFeatures
  /// + 1) values, where the last one of each class is its start value.
  std::vector<float> contributions(const Row& row) const;
  int classes() const;

  /// Returns the trees as bytes. load() restores them, and fails with corrupt.
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
