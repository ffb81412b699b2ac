// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs: their limits, and how close measured kernels come to them. TOML files: those of
/// presets/boards, which the program carries, and the user's own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::inference {

/// Number format of a matrix multiplication. `weights_only`: stored narrow, widened to 16 bits
/// first.
enum class Arithmetic { bf16, fp8, int8, fp4, weights_only };

/// Time of a kernel: a fixed time, plus the longer of its bytes at a share of the bandwidth and its
/// operations at a share of the peak.
struct Kernel {
  double fixed_us = 0, bandwidth = 1, peak = 1;
  bool own = false;  ///< Whether it was measured on the board that has it.
};

/// Measured runs of a model on a board, to which nothing was fitted.
struct CheckedModel {
  std::string model{};          ///< With the weights that it has by default.
  std::vector<int> gpus{};      ///< GPUs per stage of these runs.
  int runs = 0;                 ///< 0: among the board's Board::checked_runs.
  double end_to_end_error = 0;  ///< Mean absolute error of these runs; 0 as `runs`.
  bool data_attention = false;  ///< Whether some runs have data-parallel attention.
};

/// A GPU. Peaks are dense, with 32-bit accumulation; 0 if the board lacks such units.
struct Board {
  std::string name{};
  std::vector<std::string> aliases{};
  std::string vendor{};
  double memory_bytes = 0;
  double bandwidth = 0;  ///< Of its memory, bytes per second.
  double bf16_flops = 0, fp8_flops = 0, int8_flops = 0, fp4_flops = 0;  ///< Per second.
  double peer_bandwidth = 0;  ///< To other GPUs, bytes per second, one way; 0 = not known.
  int linked_boards = 8;      ///< GPUs that reach each other at that bandwidth.
  double host_bandwidth = 0;  ///< To the memory of its node, bytes per second, one way.
  /// Power of one GPU in watts: idle, during prefill, during decode; 0 = not known.
  double idle_w = 0, prefill_w = 0, decode_w = 0;
  double usd_per_hour = 0;  ///< Public on-demand price; 0 = not known.
  /// Measured kernels by operation: a format (bf16, fp8, fp8_block, int8, fp4, weights_only),
  /// experts_ and a format, prefill, decode (attention) and all_reduce.
  std::map<std::string, Kernel, std::less<>> kernels{};
  /// The board on which those were measured that are not its own; its own name if all are.
  std::string kernels_of{};
  /// Mean absolute error of simulated end-to-end latency, relative to measured runs on this board
  /// that nothing was fitted to; and their number, 0 for none.
  double end_to_end_error = 0;
  int checked_runs = 0;
  std::vector<CheckedModel> checked_models{};  ///< The models that a built-in board has runs of.

  /// Returns the peak of `arithmetic`; that of 16 bits if the board lacks such units.
  double peak(Arithmetic arithmetic) const;
  /// Returns the kernel of an operation. Without a measurement it is the one of 16 bits, and
  /// without that a kernel that reaches the board's limits.
  Kernel kernel(std::string_view operation) const;
  /// Whether some kernels were measured on this board.
  bool has_own_kernels() const;
  /// Returns this board with kernels that reach its limits.
  Board at_its_limits() const;
};

/// Returns the built-in board with that name or alias, ignoring case. Fails with `not_found` and
/// the nearest names.
Result<Board> find_board(std::string_view name);
/// Reads a board file. Fails with `not_found`, or with `invalid`: file, line, and the nearest key.
Result<Board> read_board(const std::string& path);
/// Parses the text of such a file; the board's name is that of `path` without folder and ".toml".
Result<Board> parse_board(std::string_view text, const std::string& path);
/// Reads the board at a path that ends in ".toml", or finds one by name.
Result<Board> load_board(const std::string& name_or_path);

/// Returns the built-in boards, sorted by name.
const std::vector<Board>& built_in_boards();
/// Returns their names, listed as in a sentence.
std::string board_names();

}  // namespace almanac::inference
