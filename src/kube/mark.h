// SPDX-License-Identifier: Apache-2.0

/// \file
/// What lever `order` leaves on each workload that it changes: an annotation with the number that
/// it wrote and the one without Almanac's rank. A cluster can so be undone without the journal.
///
/// almanac/order: {"base":0,"field":"priority","value":3}
///
/// Users who may edit a workload may write any text there, so it is read here only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace almanac::kube {

inline constexpr const char* kMark = "almanac/order";
/// Longer text is not Almanac's: the longest mark has 63 bytes.
inline constexpr std::size_t kLongestMark = 128;
/// The most that lever `order` adds to a number.
inline constexpr std::int64_t kMostRank = 3;

/// The number by which Kueue orders workloads that lever `order` writes.
enum class Field : std::uint8_t {
  priority,  ///< spec.priority
  boost,     ///< The annotation kueue.x-k8s.io/priority-boost; needs Kueue's gate PriorityBoost.
};
inline std::string_view to_string(Field field) {
  return field == Field::boost ? "boost" : "priority";
}

struct Mark {
  Field field = Field::priority;
  std::int64_t base = 0;   ///< The number without Almanac; 0 for a boost.
  std::int64_t value = 0;  ///< The number that Almanac wrote.
};

std::string to_text(const Mark& mark);
/// Returns nothing for text that Almanac did not write. A rank is 1 to kMostRank, so a forged mark
/// moves a number by no more than that.
std::optional<Mark> parse_mark(std::string_view text);

}  // namespace almanac::kube
