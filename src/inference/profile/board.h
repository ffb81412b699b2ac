// SPDX-License-Identifier: Apache-2.0

/// \file
/// The limits of a GPU, which closed-form step times divide by.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::inference {

/// Number format of a matrix multiplication. `weights_only`: stored narrow, widened to 16 bits
/// first.
enum class Arithmetic { bf16, fp8, int8, fp4, weights_only };

/// A GPU. Peaks are dense, with 32-bit accumulation; 0 if the board lacks such units.
struct Board {
  std::string name{};
  double memory_bytes = 0;
  double bandwidth = 0;  ///< Of its memory, bytes per second.
  double bf16_flops = 0, fp8_flops = 0, int8_flops = 0, fp4_flops = 0;  ///< Per second.
  double memory_use = 1;      ///< Fraction of the bandwidth that an iteration reaches.
  double compute_use = 1;     ///< Fraction of the peak that an iteration reaches.
  double peer_bandwidth = 0;  ///< To other GPUs of its node, bytes per second, one way.
  double host_bandwidth = 0;  ///< To the memory of its node, bytes per second, one way.
  /// Power of one GPU in watts: idle, during prefill, during decode.
  double idle_w = 0, prefill_w = 0, decode_w = 0;

  /// Returns the peak of `arithmetic`; that of 16 bits if the board lacks such units.
  double peak(Arithmetic arithmetic) const;
};

/// Returns the board with that name or alias, ignoring case. Fails with `not_found` and the nearest
/// names.
Result<Board> find_board(std::string_view name);
/// Returns the names that find_board() knows, without aliases, listed as in a sentence.
std::string board_names();

}  // namespace almanac::inference
