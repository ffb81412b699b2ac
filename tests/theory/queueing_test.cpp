// SPDX-License-Identifier: Apache-2.0

/// \file
/// The simulator against queueing theory: what is known in closed form must come out, within the
/// confidence interval of the simulation itself.
///
/// Source   Kleinrock, Queueing Systems I (Erlang C, Pollaczek-Khinchine) and II (shortest job
///          first); Schrage & Miller, Operations Research 1966 (shortest remaining time first).
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/play.h"

namespace almanac {
namespace {

constexpr int kJobs = 200'000;
constexpr int kBatches = 20;
/// Mean run time. Long, so that whole milliseconds do not matter.
constexpr double kMeanSeconds = 1000;
/// Student's t for 19 degrees of freedom, 99.9 %: one test of a thousand fails by chance, and with
/// fixed seeds it either does or does not.
constexpr double kStudent = 3.883;

/// Draws a run time in units of the mean.
using Draw = std::function<double(Rng&)>;

double exponential(Rng& rng) { return rng.exponential(); }
double constant(Rng&) { return 1; }
double uniform(Rng& rng) { return 2 * rng.uniform(); }
/// One job of ten is long: half of the work; the squared coefficient of variation is 4.6.
double mixed(Rng& rng) { return rng.exponential() * (rng.below(10) == 0 ? 5.0 : 5.0 / 9.0); }

struct Estimate {
  double mean = 0;
  double half_width = 0;
};

/// Mean time of `of(job)` in units of the mean run time, by batch means without the first batch.
template <typename Of>
Estimate batch_means(Of&& of) {
  constexpr int kBatchSize = kJobs / (kBatches + 1);
  std::vector<double> means;
  std::size_t next = kBatchSize;
  for (int batch = 1; batch <= kBatches; ++batch) {
    double sum = 0;
    for (int job = 0; job < kBatchSize; ++job) sum += of(next++);
    means.push_back(sum / kBatchSize / kMeanSeconds);
  }
  Estimate estimate;
  for (const double mean : means) estimate.mean += mean / kBatches;
  double variance = 0;
  for (const double mean : means) variance += std::pow(mean - estimate.mean, 2) / (kBatches - 1);
  estimate.half_width = kStudent * std::sqrt(variance / kBatches);
  return estimate;
}

enum class Measure { wait, response };

/// Jobs of one GPU on `gpus` GPUs that are busy for `load` of the time.
Estimate simulate(const std::string& policy, int gpus, double load, const Draw& draw,
                  std::uint64_t seed, Measure measure) {
  Case input{.policy = policy};
  input.cluster = cluster::uniform(1, gpus);
  input.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
  Rng arrivals(seed, 1);
  Rng lengths(seed, 2);
  const auto milliseconds = [](double s) {
    return Duration{static_cast<Duration::rep>(std::llround(s * 1e3))};
  };
  double now = 0;
  for (int job = 0; job < kJobs; ++job) {
    now += arrivals.exponential() * kMeanSeconds / (load * gpus);
    add_job(input.trace, {.id = "x",
                          .submit = milliseconds(now),
                          .run = milliseconds(draw(lengths) * kMeanSeconds)});
  }
  const Result<Played> played = play(input);
  EXPECT_TRUE(played);
  return batch_means([&](std::size_t job) {
    const Duration response = played->result.jobs[job].end - input.trace.jobs[job].request.submit;
    const Duration run = input.trace.jobs[job].outcome.run;
    return seconds(measure == Measure::wait ? response - run : response);
  });
}

void expect_mean(const Estimate& simulated, double theory) {
  EXPECT_NEAR(simulated.mean, theory, simulated.half_width);
  // An interval that is too wide would prove nothing.
  EXPECT_LT(simulated.half_width, 0.2 * theory);
}

/// Mean wait in M/M/c, in mean run times.
double erlang_c_wait(int servers, double load) {
  const double offered = load * servers;
  double term = 1;
  double sum = 1;
  for (int k = 1; k < servers; ++k) sum += term *= offered / k;
  const double all_busy = term * offered / servers / (1 - load);
  return all_busy / (sum + all_busy) / (servers * (1 - load));
}

/// Mean of `value(x)` over exponential run times x of mean 1, by the midpoint rule on quantiles.
template <typename Value>
double mean_over_exponential(Value&& value) {
  constexpr int kSteps = 100'000;
  double sum = 0;
  for (int step = 0; step < kSteps; ++step) sum += value(-std::log1p(-(step + 0.5) / kSteps));
  return sum / kSteps;
}

/// Work of the exponential jobs that are no longer than x: integral of t e^-t.
double work_below(double x) { return 1 - (1 + x) * std::exp(-x); }
/// Integral of t^2 e^-t up to x.
double square_below(double x) { return 2 - (x * x + 2 * x + 2) * std::exp(-x); }

TEST(Fifo, WaitsAsErlangCSays) {
  std::uint64_t seed = 1;
  for (const int gpus : {1, 2, 4, 8}) {
    for (const double load : {0.5, 0.7, 0.8}) {
      SCOPED_TRACE(testing::Message() << gpus << " GPUs, load " << load);
      expect_mean(simulate("fifo", gpus, load, exponential, seed++, Measure::wait),
                  erlang_c_wait(gpus, load));
    }
  }
}

TEST(Fifo, WaitsAsPollaczekAndKhinchineSay) {
  struct Service {
    const char* name;
    Draw draw;
    double second_moment;
  };
  const double mixed_second_moment = 2 * (0.1 * 25 + 0.9 * 25.0 / 81);
  const std::vector<Service> services = {{"constant", constant, 1},
                                         {"uniform", uniform, 4.0 / 3},
                                         {"exponential", exponential, 2},
                                         {"mixed", mixed, mixed_second_moment}};
  for (const Service& service : services) {
    for (const double load : {0.5, 0.8}) {
      SCOPED_TRACE(testing::Message() << service.name << ", load " << load);
      expect_mean(simulate("fifo", 1, load, service.draw, 100, Measure::wait),
                  load * service.second_moment / (2 * (1 - load)));
    }
  }
}

TEST(Sjf, WaitsAsTheShortestJobFirstFormulaSays) {
  for (const double load : {0.5, 0.8}) {
    SCOPED_TRACE(testing::Message() << "load " << load);
    const double residual = load * 2 / 2;  // lambda E[S^2] / 2
    const double theory = mean_over_exponential(
        [&](double x) { return residual / std::pow(1 - load * work_below(x), 2); });
    expect_mean(simulate("sjf", 1, load, exponential, 200, Measure::wait), theory);
  }
}

TEST(GpuTime, IsShortestJobFirstForJobsOfOneGpu) {
  const double theory =
      mean_over_exponential([&](double x) { return 0.7 / std::pow(1 - 0.7 * work_below(x), 2); });
  expect_mean(simulate("qssf+oracle", 1, 0.7, exponential, 300, Measure::wait), theory);
}

TEST(Srtf, RespondsAsTheShortestRemainingTimeFormulaSays) {
  for (const double load : {0.5, 0.8}) {
    SCOPED_TRACE(testing::Message() << "load " << load);
    // Waiting for the first GPU second, then the residence, tabulated while x grows.
    double residence = 0;
    double last = 0;
    const double theory = mean_over_exponential([&](double x) {
      const double middle = 1 - load * work_below((x + last) / 2);
      residence += (x - last) / middle;
      last = x;
      const double waiting = load * (square_below(x) + x * x * std::exp(-x)) / 2 /
                             std::pow(1 - load * work_below(x), 2);
      return waiting + residence;
    });
    expect_mean(simulate("srtf", 1, load, exponential, 400, Measure::response), theory);
  }
}

TEST(Easy, IsFifoForJobsOfOneGpu) {
  expect_mean(simulate("easy+oracle", 4, 0.8, exponential, 500, Measure::wait),
              erlang_c_wait(4, 0.8));
}

}  // namespace
}  // namespace almanac
