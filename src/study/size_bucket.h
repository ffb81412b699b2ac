// SPDX-License-Identifier: Apache-2.0

/// \file
/// The job size classes of the Philly study.
///
/// Source   Jeon et al., ATC'19, Figures 2, 3, 9 and Tables 2, 7: 1, 2 to 4, 5 to 8 and more GPUs.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace almanac::study {

inline constexpr std::array<std::string_view, 4> kSizes{"1 GPU", "2-4 GPUs", "5-8 GPUs", ">8 GPUs"};

/// The position in kSizes of a job with `gpus` GPUs, at least 1.
constexpr std::size_t size_of(int gpus) {
  return gpus <= 1 ? 0 : gpus <= 4 ? 1 : gpus <= 8 ? 2 : 3;
}

}  // namespace almanac::study
