// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes that jobs held, and how much of each, as far as a log shows: Outcome::node_list, or
/// Trace::attempts. A log gives the total of a job. The amount on one node is certain only if the
/// job had one node, or equal parts of its nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace almanac::trace {

/// What a job held on a node.
struct Held {
  std::uint32_t node = 0;  ///< Position in HeldNodes::names().
  std::int32_t gpus = -1;  ///< At least; -1 = an equal part of the job's.
};

/// A period in which a job held nodes.
struct Stay {
  std::uint32_t job = 0;  ///< Position in Trace::jobs.
  Time from{};
  Time to{};
  std::uint32_t first = 0;  ///< For HeldNodes::held_in().
  std::uint32_t count = 0;
  bool steady = true;  ///< Not suspended in between: it held them all the time.
};

class HeldNodes {
 public:
  /// Expands each distinct list of nodes once. Jobs that never ran held nothing.
  explicit HeldNodes(const Trace& trace);

  /// Names of all nodes, "n2" before "n10".
  const std::vector<std::string>& names() const { return names_; }
  /// In order of their starts.
  const std::vector<Stay>& stays() const { return stays_; }
  std::span<const Held> held_in(const Stay& stay) const {
    return std::span(held_).subspan(stay.first, stay.count);
  }
  /// Jobs that ran, and those of them with known nodes; likewise for GPU jobs.
  struct Counts {
    std::int64_t ran = 0;
    std::int64_t told = 0;
    std::int64_t gpu_ran = 0;
    std::int64_t gpu_told = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  void sort_names();

  std::vector<std::string> names_;
  std::vector<Held> held_;
  std::vector<Stay> stays_;
  Counts counts_;
};

/// "n2" before "n10", "g1x2" before "g1x10".
bool comes_before(std::string_view a, std::string_view b);

/// The name without its numbers: nodes that share it are often alike.
std::string stem_of(std::string_view node);

/// Returns the GPUs that `stay` certainly held on each of its nodes: an equal part, rounded down. 0
/// if the number of named nodes differs from the job's.
int sure_gpus(const Request& request, const Stay& stay, const Held& held);

}  // namespace almanac::trace
