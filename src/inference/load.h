// SPDX-License-Identifier: Apache-2.0

/// \file
/// The load of a service as seen from outside, at one moment.
#pragma once

#include <cstdint>

namespace almanac::inference {

struct Load {
  int ready = 0;             ///< Replicas that accept requests.
  int starting = 0;          ///< Replicas that were requested and are not ready yet.
  std::int64_t waiting = 0;  ///< Requests of which no token is computed yet.
  std::int64_t running = 0;  ///< Requests in progress.
  double kv_use = 0;         ///< Fraction of the ready replicas' KV cache in use, 0 to 1.
  std::int64_t arrived = 0;  ///< Requests since the service started.
  bool over = false;         ///< No request is left, and none will arrive.
};

}  // namespace almanac::inference
