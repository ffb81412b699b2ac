// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of a node's free capacity is a fragment: unusable for the pods that are expected.
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

/// A request as it is logged, with the accepted GPU models as written there.
struct Pod {
  Request request;
  std::string models{};  ///< "V100M16|V100M32"; empty = any.
};

/// The expected demand: kinds of requests and their frequencies.
class Mix {
 public:
  struct Kind {
    Request request;
    double frequency = 0;  ///< Frequencies sum to 1.
    std::string models{};
  };

  Mix() = default;
  /// Keeps the order of `kinds`.
  explicit Mix(std::vector<Kind> kinds);

  const std::vector<Kind>& kinds() const { return kinds_; }
  /// Returns the cores, in thousandths, that all kinds together request per GPU; 0 if no kind
  /// requests GPUs.
  double cpu_milli_of_a_gpu() const { return cpu_milli_of_a_gpu_; }

  /// Returns the thousandths of free GPUs on `node` that the next pod is expected not to be able to
  /// use, in [0, total_free()]. Sums in the order of the published program, so that differences
  /// which are zero there are zero here.
  /// Cost     about 4 ns per kind
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
  std::vector<std::int16_t> levels_;  // requested parts of GPUs, ascending
};

/// Counts pods by kind; ignores memory.
class Tally {
 public:
  void add(const Pod& pod);
  std::int64_t pods() const { return pods_; }
  /// Returns the most frequent kinds that together cover `part` of the pods, sorted by count,
  /// cores, part, number of GPUs and text of models, all descending. Without pods there are no
  /// kinds.
  Mix mix(double part = 0.95) const;

 private:
  using Key = std::tuple<std::int64_t, int, int, std::string>;
  std::map<Key, std::pair<std::int64_t, Models>> counts_;
  std::int64_t pods_ = 0;
};

/// Returns the most frequent kinds that cover 95 % of `pods`.
Mix mix_of(std::span<const Pod> pods);

}  // namespace almanac::fragment
