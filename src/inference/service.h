// SPDX-License-Identifier: Apache-2.0

/// \file
/// A model service as described by a user, and the latencies of its requests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "inference/profile/model.h"
#include "inference/profile/roofline.h"
#include "inference/replica.h"
#include "inference/request.h"
#include "inference/router.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// A model on identical replicas.
struct Service {
  Model model{};
  Board board{};
  int gpus = 1;    ///< GPUs of one stage of a replica (tensor parallelism).
  int stages = 1;  ///< Pipeline stages of a replica.
  int replicas = 1;
  int prefill = 0;                 ///< Number of prefill-only replicas; 0 = all replicas do both.
  double link_bytes_per_s = 25e9;  ///< Bandwidth for KV cache between replicas.
  int adapters = 0;  ///< Adapters in GPU memory of a replica at a time; 0 = no adapters.
  int adapter_rank = 16;
  double swap_gib = 0;  ///< Host memory of a replica for the KV cache of preempted sequences.
  Limits limits{};      ///< kv_blocks 0 = as many as fit.
  std::string former = "chunked";
  std::string router = "shortest_queue";
  std::uint64_t seed = 1;
  /// Each GPU computes attention for requests of its own, and experts are divided (see Layout).
  bool data_attention = false;
  /// Each GPU has whole experts (see Layout).
  bool whole_experts = false;
  /// Step times at the limits of the board, which no server beats.
  bool at_limits = false;
  Speculation speculation{};
  std::shared_ptr<const StepTime> measured{};  ///< Null = from the model and the board's kernels.
  /// Step times by tables of measured kernels, for this model and these GPUs; null = none. The
  /// engine's own time comes on top, as with the board's kernels.
  std::shared_ptr<const StepTime> tables{};

  int replica_gpus() const { return gpus * stages; }
};

/// Returns what the step times of `service` rest on and how far off they are known to be, a phrase.
std::string basis_of_times(const Service& service);

/// Returns the number of KV cache blocks that fit on one replica of `service` with its weights and
/// adapters; below 1 = none.
///
/// Source   vLLM gives KV nine tenths of the memory less weights and activations. Activations take
///          1.75 GiB of a GPU, or 8 with experts: of four servers whose blocks inference-sim
///          published the figure is at most 6 % off. A sequence's state of linear attention is
///          set aside for as many as may run.
std::int64_t fitting_blocks(const Service& service);

/// Returns the tokens of a sequence for which a replica with `blocks` has KV cache. With
/// data-parallel attention it is on one GPU of each stage.
std::int64_t sequence_room(const Service& service, std::int64_t blocks);

/// Returns the numbers of GPUs per stage, in ascending order, that divide the attention heads of
/// the model and on which it fits.
std::vector<int> fitting_gpus(Service service);

/// Fails with invalid if `gpus` GPUs cannot divide the attention heads of `model` equally.
///
/// Source   vLLM divides query heads among the GPUs of tensor parallelism. It divides KV heads too,
///          or gives each GPU a copy of one if there are fewer heads than GPUs.
Result<void> check_division(const Model& model, int gpus);

class Simulation;

/// Components of the replicas of a service.
struct Parts {
  Limits limits{};  ///< kv_blocks is the actual number.
  std::shared_ptr<const StepTime> step;
  std::function<std::unique_ptr<Former>()> former;
  std::unique_ptr<Router> router;
  std::unique_ptr<Router> decode_router;
  int prefill = 0;
  Micros link_token = 0;  ///< Time to send the KV cache of a token between replicas.

  /// Adds `replicas`. If `prefill` is set, the first ones are prefill-only and the others
  /// decode-only.
  void open(Simulation& simulation, int replicas) const;
};
/// Returns the components of `service`. Fails with not_found for an unknown former or router, with
/// invalid if the model does not fit or its heads cannot be divided among the GPUs, and with usage
/// if no replica is left for decoding.
Result<Parts> parts(const Service& service);

/// Latency objective (SLO) of a request in microseconds; infinite = no limit.
struct Objective {
  Micros first_token = kNever;  ///< TTFT: from arrival to the first token.
  Micros per_token = kNever;    ///< TPOT: mean time per token after the first.
  Micros end_to_end = kNever;   ///< From arrival to the last token.
};

/// Distribution over finished requests in microseconds. All NaN if no request has the measure: an
/// answer of one token has no time per token after the first.
struct Spread {
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, most = 0;
};

struct Seen {
  std::size_t requests = 0;
  std::size_t finished = 0;
  std::size_t attained = 0;  ///< Finished requests that met the objective.
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

/// Returns whether a finished request met the objective.
bool meets(const Request& request, const Outcome& outcome, const Objective& objective);

/// Called for each request when it finishes; returning true ends the run.
using Enough = std::function<bool(RequestId request, const Outcome& outcome)>;
/// Simulates `requests` on the service. Fails like parts(). O(tokens / batch + iterations).
Result<std::vector<Outcome>> play(const Service& service, const Requests& requests,
                                  const Enough& enough = {});
/// Returns the energy of a fleet in joules (NaN if the board's power is not known), for `replica_s`
/// replica-seconds with activity `busy`.
double energy_j(const Service& service, double replica_s, const Busy& busy);

Seen summarize(const Requests& requests, const std::vector<Outcome>& outcomes,
               const Objective& objective);

}  // namespace almanac::inference
