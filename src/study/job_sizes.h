// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sums over the jobs that request up to a number of GPUs, at the points of the Helios study.
///
/// Source   Hu et al., SC'21, Figure 6.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "study/study.h"

namespace almanac::study {

struct SizePoint {
  std::string_view name;
  std::int32_t gpus;
};

inline constexpr std::array<SizePoint, 13> kSizePoints{
    {{"1", 1},
     {"2", 2},
     {"4", 4},
     {"8", 8},
     {"12", 12},
     {"16", 16},
     {"24", 24},
     {"32", 32},
     {"40", 40},
     {"48", 48},
     {"56", 56},
     {"64", 64},
     {">64", std::numeric_limits<std::int32_t>::max()}}};

/// The sum up to each point; the last is the total.
using SizeCdf = std::array<double, kSizePoints.size()>;

/// Sums `amount` over the GPU jobs.
template <class Amount>
SizeCdf size_cdf(const Study& study, Amount amount) {
  SizeCdf sums{};
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    std::size_t point = 0;
    while (kSizePoints[point].gpus < job.request.gpus) ++point;
    sums[point] += amount(job);
  }
  for (std::size_t point = 1; point < sums.size(); ++point) sums[point] += sums[point - 1];
  return sums;
}

}  // namespace almanac::study
