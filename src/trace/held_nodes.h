// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which nodes jobs held and what of each, as far as a log tells: Outcome::node_list, or the
/// pieces of Trace::attempts. A log tells of a job what it held in all; on one node that is certain
/// only if the job had one node, or if its nodes had equal parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace almanac::trace {

/// What a job held of a node.
struct Held {
  std::uint32_t node = 0;  ///< Position in HeldNodes::names().
  std::int32_t gpus = -1;  ///< At least; -1 = an equal part of the job's.
};

/// One stretch of time in which a job held nodes.
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
  /// Jobs that ran, and those of them of which nodes are told; the same of GPU jobs alone.
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

/// GPUs that `stay` surely held on each of its nodes: an equal part, rounded down; 0 where the
/// nodes that are named are not as many as the job had.
int sure_gpus(const Request& request, const Stay& stay, const Held& held);

}  // namespace almanac::trace
