// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates a service on spot instances, which come, and go after a notice.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/service.h"
#include "inference/spot_layout.h"

namespace almanac::inference {

/// What a service does when instances come or go.
enum class SpotRule {
  migrate,  ///< Divides the model again and moves weights and KV cache between GPUs.
  restart,  ///< Divides the model again; all replicas start again from disk.
  reroute   ///< Keeps the division. Replicas that lose a GPU end; others start from disk.
};

/// "migrate", "restart" or "reroute"; nothing for other words.
std::optional<SpotRule> spot_rule(std::string_view word);

/// An instance, in time since the first request.
struct SpotInstance {
  Micros from = 0;        ///< Its GPUs can be used.
  Micros until = kNever;  ///< It is taken away.
};

struct SpotCase {
  std::vector<SpotInstance> instances{};
  int gpus = 4;         ///< GPUs of an instance.
  Micros grace = 30e6;  ///< From the notice until the instance is taken away.
  SpotRule rule = SpotRule::migrate;
};

/// Reads a table with a row for each instance: from_s and, if it is taken away, until_s. Fails with
/// not_found and with invalid.
Result<std::vector<SpotInstance>> read_spot(const std::string& path);

/// Returns the most instances that are there at one time. O(n log n).
int most_at_once(const std::vector<SpotInstance>& instances);

/// The layout of the model from a moment on.
struct SpotStep {
  Micros at = 0;  ///< Since the first request.
  SpotLayout layout{};
  int gpus = 0;    ///< Of instances that can be used and have no notice,
  int needed = 0;  ///< and those of the smallest replica.
};

struct SpotRun {
  std::vector<Outcome> outcomes{};
  std::vector<SpotStep> steps{};
  Busy busy{};
  Micros span = 0;            ///< From the first request to the last answer or request.
  double gpu_s = 0;           ///< Of all GPUs of the instances, in this time.
  int changes = 0;            ///< Moments after the start at which replicas ended or began.
  double stopped_s = 0;       ///< Time without a replica that takes requests.
  std::int64_t kept = 0;      ///< Requests that continued with their KV cache.
  std::int64_t computed = 0;  ///< Requests whose KV cache was lost and computed again.
};

/// Simulates `requests`, until all are answered or none can be any more. Instances that are there
/// at the first request have the weights already.
///
/// Source   Miao et al., ASPLOS'24 (SpotServe). `migrate` is the system: a new layout whenever the
///          instances change (SpotLayouts), GPUs mapped to it so that most of their weights and KV
///          cache are used again, replicas that compute during the grace period for as long as the
///          migration leaves them, and requests that continue from the token that they had reached.
///          `restart` and `reroute` are the systems that it is compared with.
/// Differs  Layouts change only when instances do. The layout at the first request is for the mean
///          rate of the whole log, as if the operator knew it; later ones are for the rate of the
///          last minute, or of the time so far. A new instance takes 30 s to start its engine
///          (cold_start()). Replicas that are divided as before and lose no GPU compute on, and all
///          others stop while weights and KV cache move. During a grace period, new replicas of
///          the same division are filled on GPUs without one while all compute. Each instance
///          receives over its own link of Service::link_bytes_per_s; what another GPU of the
///          instance has takes no time. If all does not arrive in time, the KV cache is given up,
///          and then the weights are read from disk. Each instance has a disk of its own. A prefill
///          that has not ended begins again. Instances that come or get notice during a migration
///          are looked at when it ends; one that takes part in it and is lost ends its replica, and
///          the migration begins again from what the others held before it, without its KV cache.
///          `restart` begins its start again if instances come or go during it.
/// Fails like SpotLayouts::make().
Result<SpotRun> play_spot(const Service& service, const Requests& requests, const SpotCase& spot);

}  // namespace almanac::inference
