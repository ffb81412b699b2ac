// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of a simulated inference service: the latency of its requests, its cost, and why
/// requests missed the SLO.
#pragma once

#include <string>
#include <vector>

#include "figure/document.h"
#include "inference/fleet_sizes.h"
#include "inference/load_curve.h"
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
  double gpu_hours = 0;
  double cost = 0;  ///< 0 without a price.
  double energy_kwh = 0;
  const inference::IdealFleet& ideal;              ///< Empty if nothing scales.
  const std::vector<inference::FleetSize>& sizes;  ///< Fixed fleets; empty if not simulated.
};

/// Returns a report with tiles for attainment, size and cost; attainment and cost by replicas;
/// distributions of TTFT, TPOT and end-to-end latency against the SLO; and attainment, goodput,
/// replicas, queue, KV memory and losses over time.
figure::Document service_document(const ServiceInput& input,
                                  const std::vector<std::string>& command);

}  // namespace almanac::report
