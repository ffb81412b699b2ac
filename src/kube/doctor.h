// SPDX-License-Identifier: Apache-2.0

/// \file
/// Looks at a cluster and says in plain words what Almanac can do there, what it cannot, and what
/// to change. It creates access reviews, which store nothing, and changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/verdict.h"
#include "kube/client.h"

namespace almanac::kube {

/// What Almanac does with a cluster.
enum class Feature : std::uint8_t {
  watching,
  recording,  ///< Of runs that end.
  forecast,   ///< Of starts, and why a workload waits.
  advice,     ///< By simulation.
  order,      ///< By the boost annotation or spec.priority of workloads that wait.
  backfill,   ///< Order in a StrictFIFO queue, with a reservation for its head.
};
inline constexpr Feature kFeatures[] = {Feature::watching, Feature::recording, Feature::forecast,
                                        Feature::advice,   Feature::order,     Feature::backfill};

std::string_view to_string(Feature feature);

struct Finding {
  std::string what{};   ///< "right: list workloads"
  std::string found{};  ///< "no"; "" for nothing.
  Verdict verdict = Verdict::fine;
  std::string means{};
  std::string to_do{};              ///< "" for nothing.
  std::vector<Feature> features{};  ///< Those that it concerns.
};

struct Diagnosis {
  std::string server{};  ///< "v1.30.2"
  std::string kueue{};   ///< "v1beta2"; "" without Kueue.
  std::vector<Finding> findings{};

  Verdict of(Feature feature) const;
};

/// `lease_space` is the namespace of the service's Lease. Fails like Client::get() if not even the
/// server's version can be read.
Result<Diagnosis> diagnose(Client& client, const std::string& lease_space = "almanac");

}  // namespace almanac::kube
