// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service whose number of replicas follows its requests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "inference/load.h"
#include "inference/scaler.h"
#include "inference/service.h"

namespace almanac::inference {

/// Fails with not_found where there is no such scaler, with usage where it needs to know what a
/// replica can do and that is not told.
Result<std::unique_ptr<Scaler>> make_scaler(const std::string& name, const ScalerCase& told);

struct Scaling {
  std::string scaler = "reactive";
  ScalerCase told{};
};

struct Scaled {
  std::vector<Outcome> outcomes{};
  double replica_s = 0;  ///< Replicas, cold starts and draining included, over time.
  Busy busy{};
  /// What was seen each time that the scaler was asked.
  struct Look {
    Micros at = 0;
    Load load{};
    int wanted = 0;
  };
  std::vector<Look> looks{};
};

/// Plays `requests` on as many replicas of `service` as a scaler wants; the least are ready from
/// the beginning. Those that are to go finish what they have. Fails as parts() and make_scaler().
Result<Scaled> play_scaled(const Service& service, const Requests& requests,
                           const Scaling& scaling);

/// The requests a second of `requests`' lengths, in their rhythm, that one replica of `service`
/// serves so that `share` of them meet the objective; within 2 %. Fails as parts() does, with
/// unavailable where there is no such rate. Cost: a dozen runs of 2,000 requests.
Result<double> replica_rate(const Service& service, const Requests& requests,
                            const Objective& objective, double share);

}  // namespace almanac::inference
