// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service as a user describes it, and what its requests saw of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "inference/profile/model.h"
#include "inference/replica.h"
#include "inference/request.h"
#include "inference/router.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// A model on some replicas that are alike.
struct Service {
  Model model{};
  Board board{};
  int gpus = 1;    ///< Of one stage of a replica, which compute each layer together.
  int stages = 1;  ///< Of a replica's layers, on GPUs of their own.
  int replicas = 1;
  int prefill = 0;  ///< Of the replicas: compute prompts for the others; 0 = all do both.
  double link_bytes_per_s = 25e9;  ///< Of KV from replica to replica.
  int adapters = 0;  ///< Of a replica in GPU memory at a time; 0 = requests name none.
  int adapter_rank = 16;
  double swap_gib = 0;  ///< Host memory of a replica for KV of sequences that are sent back.
  Limits limits{};      ///< kv_blocks 0 = as many as fit.
  std::string former = "chunked";
  std::string router = "shortest_queue";
  std::uint64_t seed = 1;
  std::shared_ptr<const StepTime> measured{};  ///< Null = a roofline of model and board.

  int replica_gpus() const { return gpus * stages; }
};

/// Blocks of KV cache that fit beside the weights and adapters of `service` on one replica; below 1
/// = none do.
///
/// Source   inference-sim (BLIS): nine tenths of the memory, less what activations take.
std::int64_t fitting_blocks(const Service& service);

class Simulation;

/// What the replicas of a service are made from.
struct Parts {
  Limits limits{};  ///< kv_blocks as many as there are.
  std::shared_ptr<const StepTime> step;
  std::function<std::unique_ptr<Former>()> former;
  std::unique_ptr<Router> router;
  std::unique_ptr<Router> decode_router;
  int prefill = 0;
  Micros link_token = 0;  ///< Of the KV of a token from replica to replica.

  /// Adds `replicas`, of which the first `prefill` compute prompts only and the others tokens only.
  void open(Simulation& simulation, int replicas) const;
};
/// Fails with not_found for a former or router that is none, with invalid where the model does not
/// fit, with usage where no replica is left for tokens.
Result<Parts> parts(const Service& service);

/// What of a request must hold for it to count as served well, microseconds; infinite = anything.
struct Objective {
  Micros first_token = kNever;  ///< From arrival.
  Micros per_token = kNever;    ///< After the first, on average.
};

/// Of the requests that were finished; microseconds. All NaN where none has the measure: an answer
/// of one token has no time per token after the first.
struct Spread {
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, most = 0;
};

struct Seen {
  std::size_t requests = 0;
  std::size_t finished = 0;
  std::size_t attained = 0;  ///< Finished, and the objective met.
  std::int64_t prompt_tokens = 0;
  std::int64_t hit_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t preemptions = 0;
  Micros span = 0;  ///< From the first arrival to the last token.
  Spread first_token{};
  Spread per_token{};    ///< After the first; of requests with more than one.
  Spread longest_gap{};  ///< Between two tokens of a request.
  Spread end_to_end{};

  double attainment() const {
    return requests == 0 ? 1 : static_cast<double>(attained) / static_cast<double>(requests);
  }
};

/// Whether a request that is finished was served as asked.
bool meets(const Request& request, const Outcome& outcome, const Objective& objective);

/// Is told of each request as it is finished; true = the run ends there.
using Enough = std::function<bool(RequestId request, const Outcome& outcome)>;
/// Plays `requests` on the service. Fails as parts() does. O(tokens / batch + iterations).
Result<std::vector<Outcome>> play(const Service& service, const Requests& requests,
                                  const Enough& enough = {});
/// What a fleet drew, joules: `replica_s` of replicas on, of which it computed as `busy` says.
double energy_j(const Service& service, double replica_s, const Busy& busy);

Seen summarize(const Requests& requests, const std::vector<Outcome>& outcomes,
               const Objective& objective);

}  // namespace almanac::inference
