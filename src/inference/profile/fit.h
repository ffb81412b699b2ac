// SPDX-License-Identifier: Apache-2.0

/// \file
/// From measurements of a server to the coefficients of its step times.
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
};

struct FittedLines {
  Fitted::Line prefill{}, decode{};  ///< Microseconds.
  double prefill_error = 0;          ///< Mean of |fitted - measured| / measured.
  double decode_error = 0;
};

/// The coefficients, none below 0, with the least squared relative errors: of prefills from clients
/// that were alone, of decodes from all. Fails with invalid for fewer than 3 of either.
Result<FittedLines> fit(std::span<const Probe> probes);

/// As Fitted::read() takes it: decodes alike for any number of sequences.
std::string to_csv(const FittedLines& lines, const std::string& model, int gpus);

}  // namespace almanac::inference
