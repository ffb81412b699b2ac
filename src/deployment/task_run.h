// SPDX-License-Identifier: Apache-2.0

/// \file
/// Services of networks that answer in one go, request by request: which batch runs next, which
/// variants answer, and how often that is right and in time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "deployment/answers.h"
#include "deployment/deployment.h"
#include "inference/service.h"

namespace almanac::deployment {

/// A request to one of the services.
struct TaskArrival {
  double at_ms = 0;
  std::size_t service = 0;
};

struct TaskCase {
  std::vector<Variant> variants{};
  std::vector<TaskService> services{};
  std::vector<TriedTask> answers{};  ///< By service; empty = what is right is not known.
  std::vector<TaskArrival> arrivals{};
  int gpus = 1;  ///< That hold all variants.
  double tolerance = 0.01;
  std::uint64_t seed = 1;
};

struct TaskRun {
  std::size_t requests = 0;
  std::size_t in_time = 0;
  std::size_t right = 0;           ///< Of those in time; where answers are known.
  std::size_t queries = 0;         ///< To variants: one or more a request.
  std::size_t preempted = 0;       ///< Batches that were lost.
  double busy_ms = 0;              ///< Of all GPUs.
  double span_ms = 0;              ///< From the first arrival to the last answer.
  inference::Spread latency_ms{};  ///< Of those in time.
};

/// Arrivals of Poisson processes at the rates of the services, sorted. O(requests log requests).
std::vector<TaskArrival> poisson_arrivals(const std::vector<TaskService>& services, double seconds,
                                          std::uint64_t seed);

/// Plays the case with a dispatcher and a chooser. A request asks for an item drawn from those that
/// the variants were tried on. Fails with not_found for names that are none, with usage for a
/// chooser that needs answers where there are none, with unavailable for a service of which no
/// variant is in time alone. Cost as play_dispatched().
Result<TaskRun> play_tasks(const TaskCase& told, const std::string& dispatcher,
                           const std::string& chooser);

}  // namespace almanac::deployment
