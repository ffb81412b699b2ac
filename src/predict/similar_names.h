// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the known name that is most similar to a new one, among very many.
///
/// Source   Hu et al., SC'21, section 4.2.1: job names match if their Levenshtein distance is
///          small.
/// Differs  The paper does not define small. Here at most a third of the longer name may differ.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::predict {

/// A set of names. A query looks only at names of about equal length, drops those whose letter
/// counts already show that they are too different, and measures the few that remain.
///
/// Cost     about 70 bytes per name in addition to its text; bench/predict_bench.cpp has the times
class SimilarNames {
 public:
  using Id = std::uint32_t;

  /// Adds a name with a number of the caller's choice. Add a name only once.
  void add(std::string_view name, Id id);

  struct Match {
    Id id = 0;
    std::size_t distance = 0;
  };
  /// Returns the most similar name that is similar enough; among equals, the one added last.
  std::optional<Match> nearest(std::string_view name) const;

  /// Returns how many edits are allowed for names of which the longer has `length` letters.
  static std::size_t tolerance(std::size_t length) { return length / 3; }
  std::size_t size() const { return size_; }

 private:
  /// Counts of each class of letters (saturating), and of each class of pairs of letters.
  struct Bag {
    alignas(16) std::array<std::uint8_t, 32> letters{};
    alignas(16) std::array<std::uint8_t, 32> pairs{};
  };
  struct Entry {
    std::string name;
    Id id = 0;
    std::uint32_t order = 0;
  };
  /// Names of one length. Bags are separate, because nearly all of the work reads them.
  struct Shelf {
    std::vector<Bag> bags;
    std::vector<Entry> entries;
  };

  static Bag bag_of(std::string_view name);
  /// Whether the counts alone show that more than `most` edits are needed.
  static bool is_too_far(const Bag& a, const Bag& b, std::size_t length_gap, std::size_t most);

  std::vector<Shelf> shelves_;  // by length
  std::size_t size_ = 0;
};

}  // namespace almanac::predict
