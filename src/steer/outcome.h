// SPDX-License-Identifier: Apache-2.0

/// \file
/// The result of a planned change, which decides what is in effect, what is tried again, and what
/// counts as undone.
#pragma once

#include <cstdint>
#include <utility>

#include "base/result.h"

namespace almanac::steer {

struct Outcome {
  enum class Kind : std::uint8_t {
    done,
    past,       ///< Too late: the job is gone, or no longer waits or runs.
    refused,    ///< The manager, or this connection to it, does not support it.
    unknown,    ///< The controller did not answer, and may have done it.
    not_tried,  ///< The manager was not asked.
  };
  Kind kind = Kind::not_tried;
  Error why{};  ///< For all kinds but `done`.

  explicit operator bool() const { return kind == Kind::done; }
  /// It may be in effect.
  bool may_be() const { return kind == Kind::done || kind == Kind::unknown; }
};

/// By what manager::Link says of its changes.
inline Outcome outcome_of(Result<void> answer) {
  using Kind = Outcome::Kind;
  if (answer) return {Kind::done};
  Error& why = answer.error();
  const Kind kind = why.code == Code::unavailable                               ? Kind::unknown
                    : why.code == Code::conflict || why.code == Code::not_found ? Kind::past
                                                                                : Kind::refused;
  return {kind, std::move(why)};
}

}  // namespace almanac::steer
