// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the known name nearest to a new one, among very many.
///
/// Source   Hu et al., SC'21, section 4.2.1: job names match when their Levenshtein distance is
///          small.
/// Differs  The paper does not say how small. Here at most a third of the longer name may differ.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::predict {

/// A set of names. A query looks at names of about its length only, drops those whose letters alone
/// already tell that they are too far, and measures the few that are left.
///
/// Cost: about 70 bytes a name beside its text; bench/predict_bench.cpp has the times.
class SimilarNames {
 public:
  using Id = std::uint32_t;

  /// Adds a name under a number of the caller's; a name is added once.
  void add(std::string_view name, Id id);

  struct Match {
    Id id = 0;
    std::size_t distance = 0;
  };
  /// The nearest name, if one is near enough; of equals, the one added last.
  std::optional<Match> nearest(std::string_view name) const;

  /// How much of a name may differ: edits, for names of which the longer has `length` letters.
  static std::size_t tolerance(std::size_t length) { return length / 3; }
  std::size_t size() const { return size_; }

 private:
  /// How often each class of letters occurs (saturating), then each class of pairs of letters.
  struct Bag {
    alignas(16) std::array<std::uint8_t, 32> letters{};
    alignas(16) std::array<std::uint8_t, 32> pairs{};
  };
  struct Entry {
    std::string name;
    Id id = 0;
    std::uint32_t order = 0;
  };
  /// Names of one length; bags apart, since nearly all that happens is reading them.
  struct Shelf {
    std::vector<Bag> bags;
    std::vector<Entry> entries;
  };

  static Bag bag_of(std::string_view name);
  /// Whether the counts alone tell that it takes more than `most` edits.
  static bool is_too_far(const Bag& a, const Bag& b, std::size_t length_gap, std::size_t most);

  std::vector<Shelf> shelves_;  // by length
  std::size_t size_ = 0;
};

}  // namespace almanac::predict
