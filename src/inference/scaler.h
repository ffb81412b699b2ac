// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the number of replicas of a service: the slot `scaler`.
#pragma once

#include "inference/load.h"
#include "inference/request.h"

namespace almanac::inference {

/// The facts about a service that a scaler gets at the start.
struct ScalerCase {
  int least = 0;                      ///< Replicas.
  int most = 0;                       ///< Replicas, at least 1.
  double replica_requests_per_s = 0;  ///< Rate that one replica serves in time; 0 if unknown.
  Micros cold_start = 0;              ///< From requesting a replica until it accepts requests.
};

/// Cannot know whether a simulation or a live service calls it.
class Scaler {
 public:
  virtual ~Scaler() = default;
  /// Returns the number of replicas wanted; the caller clamps it to the bounds. Called every
  /// period() from the start of the service.
  virtual int want(Micros now, const Load& load) = 0;
  virtual Micros period() const = 0;
};

}  // namespace almanac::inference
