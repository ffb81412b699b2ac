// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many jobs last up to 1, 2, 4, ... seconds. The curves of the Helios study are evaluated only
/// at powers of two.
///
/// Source   Hu et al., SC'21, Figures 1(a) and 5.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "figure/figure.h"
#include "study/study.h"

namespace almanac::study {

/// The last point of the curves: 2^21 s, about 24 days.
inline constexpr int kLastOctave = 21;

/// Returns a figure with columns duration_s (2^0 to 2^21), count (jobs of at most that duration)
/// and fraction (of all `jobs`), and a chart.
figure::Figure duration_cdf(const Study& study, std::span<const std::uint32_t> jobs,
                            std::vector<figure::Reference> references = {});

/// Returns a published curve from its counts at 2^0 to 2^21 among `total` jobs.
figure::Reference published_cdf(std::string name, std::span<const double> counts, double total);

/// Returns the durations of `jobs` in s, ascending.
std::vector<double> sorted_durations(const Study& study, std::span<const std::uint32_t> jobs);

}  // namespace almanac::study
