// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a prediction costs: at a submission, among 100,000 names, and for a model.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "../tests/predict/testing_log.h"
#include "base/rng.h"
#include "predict/learned.h"
#include "predict/replay.h"
#include "predict/similar_names.h"

namespace almanac::predict {
namespace {

/// A submission in simulated time: features, forecast, and the end that is learned from; weekly
/// training left out.
void foresee(benchmark::State& state) {
  const trace::Trace log = testing_log(20'000);
  Learned learned(log.names, {.refresh = 24h * 10'000});
  Replay replay(log.jobs);
  const auto learn = [&](JobId job, const trace::Request& of, const Ended& ended) {
    learned.learn(job, of, ended);
  };
  std::size_t next = 0;
  for (; next < 8'000; ++next) {
    replay.advance(log.jobs[next].request.submit, learn);
    learned.watch(JobId{static_cast<std::uint32_t>(next)}, log.jobs[next].request);
  }
  learned.fit(log.jobs[next].request.submit);
  for (auto _ : state) {
    const trace::Request& request = log.jobs[next].request;
    replay.advance(request.submit, learn);
    benchmark::DoNotOptimize(learned.foresee(JobId{static_cast<std::uint32_t>(next)}, request));
    if (++next == log.jobs.size()) state.SkipWithError("the log is too short");
  }
}
BENCHMARK(foresee)->Iterations(7'000)->Unit(benchmark::kMicrosecond);

std::string name_of(Rng& rng) {
  static constexpr std::array<const char*, 12> kWords = {"train", "resnet50", "bert", "eval",
                                                         "lr",    "seed",     "gpt",  "imagenet",
                                                         "coco",  "test",     "fold", "baseline"};
  std::string name;
  for (std::uint64_t part = 0; part < 3; ++part) {
    name += fmt::format("{}{}", part > 0 ? "_" : "", kWords[rng.below(kWords.size())]);
  }
  return name + fmt::format("_{}", rng.below(100'000));
}

/// The nearest of 100,000 distinct names; `near` = there is one, else none is similar.
void nearest_name(benchmark::State& state, bool near) {
  Rng rng(1);
  SimilarNames names;
  for (std::uint32_t at = 0; at < 100'000; ++at) names.add(name_of(rng), at);
  for (auto _ : state) {
    std::string asked = near ? name_of(rng) : std::string();
    while (!near && asked.size() < 20) asked += static_cast<char>('!' + rng.below(90));
    benchmark::DoNotOptimize(names.nearest(asked));
  }
}
BENCHMARK_CAPTURE(nearest_name, similar, true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(nearest_name, unheard_of, false)->Unit(benchmark::kMicrosecond);

/// A model of `range` jobs, calibration included.
void fit(benchmark::State& state) {
  const trace::Trace log = testing_log(static_cast<std::size_t>(state.range(0)));
  Learned learned(log.names);
  Replay replay(log.jobs);
  for (std::size_t at = 0; at < log.jobs.size(); ++at) {
    learned.watch(JobId{static_cast<std::uint32_t>(at)}, log.jobs[at].request);
  }
  replay.advance(kNever, [&](JobId job, const trace::Request& of, const Ended& ended) {
    learned.learn(job, of, ended);
  });
  for (auto _ : state) benchmark::DoNotOptimize(Model::fit(learned.examples(), {}));
}
BENCHMARK(fit)->Arg(5'000)->Arg(20'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace almanac::predict

BENCHMARK_MAIN();
