// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of what a node has left is a fragment: of no use to the pods that are to be expected.
///
/// Source   Weng et al., ATC'23 (FGD), section 3.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rules/fragment/node.h"

namespace almanac::fragment {

/// A request as a log has it: with the models that it accepts as they are written there.
struct Pod {
  Request request;
  std::string models{};  ///< "V100M16|V100M32"; empty = any.
};

/// The mix of demands: kinds of requests with how often they come.
class Mix {
 public:
  struct Kind {
    Request request;
    double frequency = 0;  ///< They sum to 1.
    std::string models{};
  };

  Mix() = default;
  /// Of these kinds, in this order.
  explicit Mix(std::vector<Kind> kinds);

  const std::vector<Kind>& kinds() const { return kinds_; }
  /// Cores, in thousandths, that all kinds together ask for each GPU; 0 = they ask no GPU.
  double cpu_milli_of_a_gpu() const { return cpu_milli_of_a_gpu_; }

  /// Thousandths of GPUs free on `node` that the next pod is expected not to be able to use, in
  /// [0, total_free()]. The sums run in the order of the published program, so that differences
  /// which are zero there are zero here. Cost: about 4 ns a kind.
  double unusable(const NodeImage& node) const;

 private:
  struct Row {
    std::int64_t cpu_milli;
    double frequency;
    Models models;
    std::int16_t gpus;
    std::int16_t level;  // of its part among levels_; unused without a GPU
  };

  std::vector<Kind> kinds_;
  std::vector<Row> rows_;
  double cpu_milli_of_a_gpu_ = 0;
  std::vector<std::int16_t> levels_;  // parts of GPUs that are asked, ascending
};

/// Counts pods of each kind; memory tells no kinds apart.
class Tally {
 public:
  void add(const Pod& pod);
  std::int64_t pods() const { return pods_; }
  /// The kinds that make up the most frequent `part` of the pods, sorted by count, cores, part,
  /// number of GPUs and text of models, all descending. No pods, no kinds.
  Mix mix(double part = 0.95) const;

 private:
  using Key = std::tuple<std::int64_t, int, int, std::string>;
  std::map<Key, std::pair<std::int64_t, Models>> counts_;
  std::int64_t pods_ = 0;
};

/// Of all of `pods`.
Mix mix_of(std::span<const Pod> pods);

}  // namespace almanac::fragment
