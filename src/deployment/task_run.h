// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates services of networks that give one answer per request: which batch runs next, which
/// variants answer, and how many answers are right and in time.
#pragma once

#include <cstdint>
#include <limits>
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
  std::vector<TriedTask> answers{};  ///< By service; empty = right answers are not known.
  std::vector<TaskArrival> arrivals{};
  int gpus = 1;
  /// Memory of a GPU; infinite: each holds all variants.
  double memory_gib = std::numeric_limits<double>::infinity();
  /// Memory of the host of all GPUs; infinite: it has all variants.
  double host_gib = std::numeric_limits<double>::infinity();
  double tolerance = 0.01;
  std::uint64_t seed = 1;
};

struct TaskRun {
  std::size_t requests = 0;
  std::size_t in_time = 0;
  std::size_t right = 0;           ///< Right answers in time, if right answers are known.
  std::size_t queries = 0;         ///< Queries of variants, one or more per request.
  std::size_t preempted = 0;       ///< Batches whose work was lost.
  std::size_t loads = 0;           ///< Of variants into GPU memory.
  double busy_ms = 0;              ///< Sum over all GPUs.
  double span_ms = 0;              ///< From the first arrival to the last answer.
  inference::Spread latency_ms{};  ///< Of the requests in time.
};

/// Returns arrivals of Poisson processes at the rates of the services, sorted. Cost: O(requests log
/// requests).
std::vector<TaskArrival> poisson_arrivals(const std::vector<TaskService>& services, double seconds,
                                          std::uint64_t seed);

/// Sets the rates of the services to their arrivals, which are sorted, over the time of all.
/// Without such a time the rates stay.
void set_rates(std::vector<TaskService>& services, const std::vector<TaskArrival>& arrivals);

/// Whether some answer to each service has a confidence below 1. Without such answers, a table
/// probably had no confidences. O(answers).
bool knows_confidence(const TaskCase& told);

/// Simulates the case with a dispatcher and a chooser. Each request draws an item on which the
/// variants were tried. Fails with not_found for an unknown name, with usage for a chooser that
/// needs known answers, or confidences, if there are none, and with unavailable for a service none
/// of whose variants is in time even alone. With limited memory it also fails with unavailable if a
/// variant that may be asked does not fit, and with invalid if the dispatcher loads variants as
/// needed and it has no load_s or, with limited memory of the host, no disk_s. Cost as
/// play_dispatched().
Result<TaskRun> play_tasks(const TaskCase& told, const std::string& dispatcher,
                           const std::string& chooser);

}  // namespace almanac::deployment
