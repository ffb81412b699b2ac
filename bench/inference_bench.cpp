// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a fleet costs to simulate: requests through 32 replicas, with the lengths of code and of
/// conversations in Azure's logs.
#include <algorithm>
#include <cmath>

#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "inference/service.h"

namespace almanac::inference {
namespace {

constexpr int kReplicas = 32;

struct Lengths {
  double rate = 0;  ///< Requests a second at one replica.
  double prompt = 0, output = 0;
};

Requests draw(std::int64_t count, const Lengths& lengths) {
  Rng rng(3);
  const auto length = [&](double mean, double spread, double most) {
    const double drawn = mean * std::exp(spread * rng.normal() - spread * spread / 2);
    return static_cast<std::int32_t>(std::clamp(drawn, 1.0, most));
  };
  Requests requests;
  double at = 0;
  for (std::int64_t each = 0; each < count; ++each) {
    at += rng.exponential() / (kReplicas * lengths.rate) * 1e6;
    requests.all.push_back({.arrival = at,
                            .prompt = length(lengths.prompt, 0.8, 8000),
                            .output = length(lengths.output, 0.9, 2000)});
  }
  return requests;
}

void simulate(benchmark::State& state, const Lengths& lengths) {
  const Requests requests = draw(state.range(0), lengths);
  const Service service{.model = find_model("llama-3.1-8b").value(),
                        .board = find_board("h100").value(),
                        .replicas = kReplicas};
  for (auto _ : state) benchmark::DoNotOptimize(play(service, requests));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(simulate, code, Lengths{8, 2048, 28})->Arg(1'000'000);
BENCHMARK_CAPTURE(simulate, conversation, Lengths{4, 1155, 211})->Arg(1'000'000);

}  // namespace
}  // namespace almanac::inference

BENCHMARK_MAIN();
