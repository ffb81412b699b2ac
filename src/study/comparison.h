// SPDX-License-Identifier: Apache-2.0

/// \file
/// Compares two clusters, or two periods of one: what differs, and whether chance explains it.
#pragma once

#include <string>
#include <vector>

#include "figure/document.h"
#include "study/measures.h"

namespace almanac::study {

enum class Verdict : std::uint8_t {
  more,
  less,
  within_chance,  ///< The interval of the change contains "none".
  cannot_tell,    ///< A log of few days, or that does not say.
};
std::string_view to_string(Verdict verdict);

struct Change {
  Measure a{};
  Measure b{};
  double change = 0;  ///< b / a; of a share: b - a.
  double low = 0;     ///< The middle 95 % of what samples of both logs would have given.
  double high = 0;
  Verdict verdict{};
};

/// Compares each measure. For identical distributions, one of twenty measures shows a change.
std::vector<Change> compare(const Study& a, const Study& b);

/// The report: what changed in words, the table of changes, and curves of both. `a_name` and
/// `b_name` call them. Title, facts and provenance are the caller's to fill in.
figure::Document draw_comparison(const Study& a, const std::string& a_name, const Study& b,
                                 const std::string& b_name);

}  // namespace almanac::study
