// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of the service one client may have.
#pragma once

#include <cstddef>

#include "base/time.h"

namespace almanac::serve {

struct Limits {
  std::size_t target_bytes = 4096;  ///< Of the request line.
  std::size_t head_bytes = 16 << 10;
  std::size_t body_bytes = 2 << 20;  ///< A submission: its environment, and a script.
  Duration request_in = 10s;  ///< From a request's first byte to its last, against slow senders.
  Duration idle = 60s;        ///< Between requests.
  Duration answer_out = 30s;  ///< Without a byte taken.
  std::size_t connections = 512;
  /// Further connections, which get the answer that there are too many.
  std::size_t refused = 32;
  /// Of one user, or one address.
  std::size_t connections_of_one = 128;
  double requests_per_s = 500;  ///< Likewise, in the long run.
  double burst = 1000;
  int workers = 8;  ///< Submissions that come at once share a commit.
};

}  // namespace almanac::serve
