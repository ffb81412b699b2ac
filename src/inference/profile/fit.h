// SPDX-License-Identifier: Apache-2.0

/// \file
/// From measurements of a server to the coefficients of its step times, and their file.
#pragma once

#include <span>
#include <string>

#include "inference/profile/fitted.h"

namespace almanac::inference {

/// What one client saw while `together` of them asked the same at once.
struct Probe {
  int prompt = 0;  ///< Tokens.
  int output = 0;  ///< Tokens.
  int together = 1;
  double first_token_ms = 0;
  double per_token_ms = 0;  ///< After the first, on average.
  /// How many of them were past their first token and not at their last when one was half through:
  /// the median.
  int decoding = 1;
  double mean_gap_ms = 0;  ///< From token to token, of all of them.
  double median_gap_ms = 0;
};

struct FittedLines {
  Fitted::Line prefill{}, decode{};  ///< Microseconds.
  double prefill_error = 0;          ///< Mean of |fitted - measured| / measured.
  double decode_error = 0;
  /// Requests that the server answers at a time, where more asked and the others waited until one
  /// was answered; 0 = as many as asked.
  int slots = 0;
  bool one_step = false;  ///< As Fitted has it; fit() cannot tell.
};

/// The coefficients, none below 0, with the least squared relative errors: of prefills from clients
/// that were alone, of decodes from all. Fails with invalid for fewer than 3 of either.
Result<FittedLines> fit(std::span<const Probe> probes);

/// What a file of coefficients tells of a server.
struct Measured {
  Fitted step;
  int slots = 0;          ///< As FittedLines has it.
  std::string warning{};  ///< Why it does not describe its server, a sentence; "" = it does.
};

/// A table as Fitted::read() takes it, decodes alike for any number of sequences, and the columns
/// one_step, slots and warning.
std::string to_csv(const FittedLines& lines, const std::string& model, int gpus,
                   const std::string& warning);
/// Such a table, of one engine, model and tp. One that has no column warning was never tested,
/// which is a warning too. Fails with not_found, invalid.
Result<Measured> read_measured(const std::string& path);

}  // namespace almanac::inference
