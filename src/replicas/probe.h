// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measures a model server from outside: streamed completions, of several lengths, several at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inference/profile/fit.h"
#include "inference/profile/held_out.h"

namespace almanac::replicas {

struct ProbePlan {
  std::string url{};                             ///< "http://host:8000"
  std::string model{};                           ///< "" = the first that the server tells.
  std::vector<int> prompts{32, 128, 512, 1024};  ///< Words of a prompt.
  std::vector<int> together{1, 4, 16};           ///< Clients at once.
  int output = 32;                               ///< Tokens of an answer.
  int repeats = 3;                               ///< The median of so many counts.
};

struct Probed {
  std::string model{};
  std::vector<inference::Probe> probes{};  ///< One for each length and number of clients.
};

/// Asks /v1/completions of an OpenAI-compatible server. Prompts are words that differ from one
/// request to the next in their first, so that no cache of prefixes answers; how many tokens they
/// are the server tells, else each word counts as one. `done` hears the part that is measured.
/// Fails with unavailable where the server does not answer, with invalid where an answer is none.
Result<Probed> probe(const ProbePlan& plan, const std::function<void(double)>& done);

/// A short load of the same server: 64 requests come at random, as many a second as told, with
/// prompts of lengths between those of the plan, and answers of half of its tokens up to all. Equal
/// seeds ask equally, others of other prompts. Fails as probe() does.
Result<inference::MixedLoad> mixed_load(const ProbePlan& plan, const std::string& model,
                                        const inference::FittedLines& lines, std::uint64_t seed,
                                        const std::function<void(double)>& done);

}  // namespace almanac::replicas
