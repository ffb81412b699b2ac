// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many replicas a service is to have: the slot `scaler`.
#pragma once

#include "inference/load.h"
#include "inference/request.h"

namespace almanac::inference {

/// What a scaler is told of the service before it begins.
struct ScalerCase {
  int least = 0;                      ///< Replicas.
  int most = 0;                       ///< Replicas, at least 1.
  double replica_requests_per_s = 0;  ///< That one replica answers in time; 0 = not known.
  Micros cold_start = 0;              ///< From asking for a replica until it takes requests.
};

/// Cannot tell whether a simulation or a live service asks.
class Scaler {
 public:
  virtual ~Scaler() = default;
  /// The replicas that the service is to have; what is outside its bounds is brought inside.
  /// Asked every period() from the start of the service on.
  virtual int want(Micros now, const Load& load) = 0;
  virtual Micros period() const = 0;
};

}  // namespace almanac::inference
