// SPDX-License-Identifier: Apache-2.0

/// \file
/// What has become of a change that was planned, in the one form by which all that follows is
/// decided: what stands, what is tried again, what counts as taken back.
#pragma once

#include <cstdint>
#include <utility>

#include "base/result.h"

namespace almanac::steer {

struct Outcome {
  enum class Kind : std::uint8_t {
    done,
    past,       ///< It came too late: the job is gone, or does not wait or run any more.
    refused,    ///< Slurm, or this way to it, does not do that.
    unknown,    ///< The controller did not answer, and may have done it.
    not_tried,  ///< Nothing was asked.
  };
  Kind kind = Kind::not_tried;
  Error why{};  ///< Of all but `done`.

  explicit operator bool() const { return kind == Kind::done; }
  /// It stands, as far as is known.
  bool may_be() const { return kind == Kind::done || kind == Kind::unknown; }
};

/// By what slurm::Link says of its changes.
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
