// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measures a model server over HTTP, by streamed completions of several lengths and at several
/// concurrencies.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inference/profile/fit.h"
#include "inference/profile/held_out.h"

namespace almanac::replicas {

/// What to measure. `mixed_load` requires two lengths of prompts.
struct ProbePlan {
  std::string url{};                             ///< "http://host:8000"
  std::string model{};                           ///< "" = the first that the server lists.
  std::vector<int> prompts{32, 128, 512, 1024};  ///< Words of a prompt.
  std::vector<int> together{1, 4, 16};           ///< Clients at the same time.
  int output = 32;                               ///< Tokens of an answer.
  int repeats = 3;                               ///< Repetitions; their median counts.
};

struct Probed {
  std::string model{};
  std::vector<inference::Probe> probes{};  ///< One for each length and number of clients.
};

/// Measures /v1/completions of an OpenAI-compatible server. The first word of each prompt differs,
/// so that no prefix cache shortens the work. The server reports the tokens of a prompt; otherwise
/// each word counts as one. Calls `done` with the fraction measured so far. Fails with usage for
/// another address than http://, with unavailable if the server returns no completion, and with
/// invalid if it lists no model.
Result<Probed> probe(const ProbePlan& plan, const std::function<void(double)>& done);

/// Measures the same server under a short random load: 64 requests arrive as a Poisson process at
/// the rate of inference::half_load(). The lengths of prompts lie between those of the plan;
/// answers have half to all of its tokens. Equal seeds give equal requests; other seeds give other
/// prompts. Fails as probe() does.
Result<inference::MixedLoad> mixed_load(const ProbePlan& plan, const std::string& model,
                                        const inference::FittedLines& lines, std::uint64_t seed,
                                        const std::function<void(double)>& done);

}  // namespace almanac::replicas
