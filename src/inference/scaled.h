// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates a service whose number of replicas follows its requests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "inference/load.h"
#include "inference/scaler.h"
#include "inference/service.h"

namespace almanac::inference {

/// Fails with `not_found` for an unknown scaler, and with `usage` if it needs the capacity of a
/// replica and that is unknown.
Result<std::unique_ptr<Scaler>> make_scaler(const std::string& name, const ScalerCase& told);

struct Scaling {
  std::string scaler = "reactive";
  ScalerCase told{};
};

struct Scaled {
  std::vector<Outcome> outcomes{};
  double replica_s = 0;  ///< Replica-seconds, including cold starts and draining.
  Busy busy{};
  /// The load each time that the scaler was asked.
  struct Look {
    Micros at = 0;
    Load load{};
    int wanted = 0;
  };
  std::vector<Look> looks{};
};

/// Simulates `requests` on the number of replicas of `service` that a scaler chooses; the minimum
/// is ready from the start. Draining replicas finish their requests. Fails like parts() and
/// make_scaler().
Result<Scaled> play_scaled(const Service& service, const Requests& requests,
                           const Scaling& scaling);

/// Returns the request rate per second, with the lengths and pattern of `requests`, at which
/// `share` of the requests to one replica of `service` meet the objective, within 2 %. Fails like
/// parts(), and with `unavailable` if there is no such rate. Cost: a dozen runs of 2,000 requests.
Result<double> replica_rate(const Service& service, const Requests& requests,
                            const Objective& objective, double share);

}  // namespace almanac::inference
