// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the known name that a user probably meant.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace almanac::text {

/// Returns the number of letters to insert, delete or change to turn one word into the other
/// (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the known name most similar to `word`, or "" if none is within an edit distance of a
/// third of its letters (at least 1); two exchanged neighbors count as one edit. The first of
/// equally similar names wins. Case does not matter.
std::string_view nearest(std::string_view word, std::span<const std::string> known);

/// Returns "did you mean qssf?", or "" if no known name is similar.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

/// Returns the same, or "known: fifo, qssf" if no known name is similar.
std::string meant_or_known(std::string_view word, std::span<const std::string> known);

}  // namespace almanac::text
