// SPDX-License-Identifier: Apache-2.0

/// \file
/// True run times with errors: as the paper simulates predictions where it has no features, or of
/// any width.
#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "predict/estimator.h"

namespace almanac::predict {
namespace {

/// Draws the relative error of one prediction: 10 % of the jobs within 10 %, 40 % within 50 %, 20 %
/// within 100 %, 20 % up to tenfold, and the last 10 % up to hundredfold.
double relative_error(Rng& rng) {
  const double part = rng.uniform();
  const double sign = rng.uniform() < 0.5 ? -1 : 1;
  const auto between = [&](double low, double high) {
    return sign * (low + (high - low) * rng.uniform());
  };
  if (part <= 0.1) return between(0, 0.1);
  if (part <= 0.5) return between(0.1, 0.5);
  if (part <= 0.7) return between(0.5, 1);
  if (part <= 0.9) return between(1, 10);
  return between(10, 100);
}

class Noisy final : public Estimator {
 public:
  Noisy(const std::vector<trace::Job>& jobs, std::uint64_t seed) : jobs_(jobs), seed_(seed) {}
  Belief estimate(JobId job, const trace::Request&) override {
    Rng rng(seed_, index(job));
    const double truth_s = seconds(jobs_[index(job)].outcome.run);
    return {.run = Duration{1000 * std::llround(std::trunc(truth_s * (1 + relative_error(rng))))}};
  }

 private:
  const std::vector<trace::Job>& jobs_;
  std::uint64_t seed_;
};

class Lognormal final : public Estimator {
 public:
  Lognormal(const std::vector<trace::Job>& jobs, double sigma) : jobs_(jobs), sigma_(sigma) {}
  Belief estimate(JobId job, const trace::Request&) override {
    constexpr std::uint64_t kSeed = 6;
    Rng rng(kSeed, index(job));
    constexpr double kMost_ms = 100 * 365.25 * 86'400e3;  // a century, which a Duration can hold
    const double truth_ms = static_cast<double>(jobs_[index(job)].outcome.run.count());
    const double wrong_ms = truth_ms * std::exp(sigma_ * rng.normal());
    return {.run = Duration{std::llround(std::min(wrong_ms, kMost_ms))}};
  }

 private:
  const std::vector<trace::Job>& jobs_;
  double sigma_;
};

}  // namespace

std::unique_ptr<Estimator> make_lognormal(const std::vector<trace::Job>& jobs, double sigma) {
  return std::make_unique<Lognormal>(jobs, sigma);
}

std::unique_ptr<Estimator> make_noisy(const std::vector<trace::Job>& jobs, std::uint64_t seed) {
  return std::make_unique<Noisy>(jobs, seed);
}

}  // namespace almanac::predict
