// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits the coefficients of step times to measurements of a server, and reads and writes them.
#pragma once

#include <span>
#include <string>

#include "inference/profile/fitted.h"

namespace almanac::inference {

/// What one client measured while `together` clients sent the same request at once.
struct Probe {
  int prompt = 0;  ///< Tokens.
  int output = 0;  ///< Tokens.
  int together = 1;
  double first_token_ms = 0;
  double per_token_ms = 0;  ///< Mean after the first.
  /// Median number of them in decode (after their first token, before their last) when one was half
  /// done.
  int decoding = 1;
  double mean_gap_ms = 0;  ///< Between tokens, over all clients.
  double median_gap_ms = 0;
};

struct FittedLines {
  Fitted::Line prefill{}, decode{};  ///< Microseconds.
  double prefill_error = 0;          ///< Mean of |fitted - measured| / measured.
  double decode_error = 0;
  /// Requests that the server processes at a time, if more were sent and the others waited; 0 if
  /// all were.
  int slots = 0;
  bool one_step = false;  ///< See Fitted; fit() cannot determine it.
};

/// Returns non-negative coefficients with the least squares of relative errors: prefills from
/// clients that were alone, decodes from all. Fails with `invalid` for fewer than 3 of either.
Result<FittedLines> fit(std::span<const Probe> probes);

/// The contents of a coefficients file.
struct Measured {
  Fitted step;
  int slots = 0;          ///< See FittedLines.
  std::string warning{};  ///< Why the file does not describe its server, a sentence; "" if it does.
};

/// Returns a table for Fitted::read(), with one decode line for any number of sequences, and
/// columns one_step, slots and warning.
std::string to_csv(const FittedLines& lines, const std::string& model, int gpus,
                   const std::string& warning);
/// Reads such a table of one engine, model and tp. A table without the column `warning` was never
/// tested, which is itself a warning. Fails with `not_found`, `invalid`.
Result<Measured> read_measured(const std::string& path);

}  // namespace almanac::inference
