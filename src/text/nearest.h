// SPDX-License-Identifier: Apache-2.0

/// \file
/// Guesses which known name a user meant.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace almanac::text {

/// Letters to insert, delete or change to make one word of the other (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name that `word` most resembles, or "" when none is close: at most a third of its
/// letters off, where two neighbors exchanged count as one. The first of equals wins; upper and
/// lower case are the same.
std::string_view nearest(std::string_view word, std::span<const std::string> known);

/// "did you mean qssf?", or "" when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

/// The same, or "known: fifo, qssf" when nothing is near.
std::string meant_or_known(std::string_view word, std::span<const std::string> known);

}  // namespace almanac::text
