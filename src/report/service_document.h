// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of a service that was played: what its requests saw, what it took, and why requests
/// missed the objective.
#pragma once

#include <string>
#include <vector>

#include "figure/document.h"
#include "inference/scaled.h"

namespace almanac::report {

struct ServiceInput {
  std::string requests_file{};
  const inference::Requests& requests;
  const inference::Service& service;
  const inference::Objective& objective;
  const inference::Scaled& played;
  const inference::Seen& seen;
  std::string scaler{};
  double cost = 0;
  double energy_kwh = 0;
};

/// TTFT, TPOT and end to end by distribution; attainment, goodput, replicas, queue, KV memory and
/// losses over time.
figure::Document service_document(const ServiceInput& input,
                                  const std::vector<std::string>& command);

}  // namespace almanac::report
