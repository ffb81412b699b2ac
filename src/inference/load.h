// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is seen of a service from outside, at one moment.
#pragma once

#include <cstdint>

namespace almanac::inference {

struct Load {
  int ready = 0;             ///< Replicas that take requests.
  int starting = 0;          ///< Asked for and not ready yet.
  std::int64_t waiting = 0;  ///< Requests of which nothing is computed yet.
  std::int64_t running = 0;  ///< Requests that are being answered.
  double kv_use = 0;         ///< Part of the ready replicas' KV memory that is held, 0 to 1.
  std::int64_t arrived = 0;  ///< Requests, since the service began.
  bool over = false;         ///< No request is left, and none will come.
};

}  // namespace almanac::inference
