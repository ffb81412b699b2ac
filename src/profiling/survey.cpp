// SPDX-License-Identifier: Apache-2.0
#include "profiling/survey.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "perf/fit_parts.h"

namespace almanac::profiling {
namespace {

/// As fast as the best: what a run is known to.
constexpr double kAlike = 0.02;
/// As the model says: what two runs known to 2 % may be apart, and as much again.
constexpr double kAsFitted = 0.05;
/// A need of exactly 4 cores is not to be taken for 5.
constexpr double kRounding = 1e-3;
/// A first run that read so much from disk met a cold cache, and is no measure.
constexpr double kColdRead_gb = 0.05;

/// Thrown when measuring is over; never leaves survey().
struct Over {
  Error error;
};

perf::Measurement row_of(const Measured& run) {
  return {.model = "job",
          .batch = run.condition.batch,
          .gpu_type = {},
          .gpus = run.condition.gpus,
          .nodes = 1,
          .throughput = run.throughput};
}

class Surveyor {
 public:
  Surveyor(const Question& question, const Measure& measure)
      : question_(&question), measure_(&measure) {}

  Survey run() {
    try {
      batches();
      more_gpus();
      cores();
      for (const double gb : question_->memories_gb) {
        Condition condition = made_.home;
        condition.memory_gb = gb;
        measure(condition);
      }
      neighbour();
    } catch (const Over& over) {
      made_.cut_short = over.error;
    }
    return std::move(made_);
  }

 private:
  /// By value: the runs may move.
  Measured measure(const Condition& condition) {
    if (const Measured* const known = made_.find(condition)) return *known;
    Result<Measured> run = (*measure_)(condition);
    const bool first = made_.runs.empty();
    if (run && first && run->throughput > 0 && run->use.read_gb > kColdRead_gb) {
      run = (*measure_)(condition);
    }
    if (!run) throw Over{run.error()};
    if (first && run->throughput == 0) throw Over{{Code::unavailable, run->said, {}, {}}};
    made_.runs.push_back(*run);
    return *run;
  }

  double total_batch(double batch, int gpus) const {
    return question_->batch_of_a_gpu ? batch * gpus : batch;
  }

  perf::StepTime fitted() const {
    std::vector<perf::Measurement> rows;
    for (const Measured& run : made_.runs) {
      if (run.throughput > 0) rows.push_back(row_of(run));
    }
    return perf::fit_board(rows).step;
  }
  static double step_s(const perf::StepTime& step, const Condition& at) {
    return step(at.batch / at.gpus, at.gpus, 1);
  }

  /// Measures the remaining conditions until the fit predicts one of them well enough.
  void check(const std::vector<Condition>& left) {
    for (const Condition& condition : left) {
      const double expected_s = step_s(fitted(), condition);
      const Measured run = measure(condition);
      if (run.throughput == 0) continue;
      const double found_s = condition.batch / run.throughput;
      if (std::abs(found_s / expected_s - 1) <= kAsFitted) return;
    }
  }

  void batches() {
    const auto at = [&](double batch) {
      return Condition{.batch = batch, .gpus = 1, .cpus = question_->most_cpus};
    };
    std::deque<double> left(question_->batches.begin(), question_->batches.end());
    made_.home = at(left.front());
    measure(made_.home);
    left.pop_front();
    for (bool ran = false; !left.empty() && !ran; left.pop_back()) {
      ran = measure(at(left.back())).throughput > 0;
      if (ran) made_.home = at(left.back());
    }
    const double middle = std::sqrt(question_->batches.front() * made_.home.batch);
    std::sort(left.begin(), left.end(), [&](double a, double b) {
      return std::abs(std::log(a / middle)) < std::abs(std::log(b / middle));
    });
    std::vector<Condition> conditions;
    for (const double batch : left) conditions.push_back(at(batch));
    check(conditions);
  }

  void more_gpus() {
    std::deque<Condition> left;
    for (const int gpus : question_->gpus) {
      if (gpus == 1 || total_batch(made_.home.batch, gpus) < gpus) continue;
      left.push_back({.batch = total_batch(made_.home.batch, gpus),
                      .gpus = gpus,
                      .cpus = question_->most_cpus});
    }
    for (bool ran = false; !left.empty() && !ran; left.pop_back()) {
      ran = measure(left.back()).throughput > 0;
    }
    if (left.empty()) return;
    measure(left.front());
    left.pop_front();
    check({left.begin(), left.end()});
  }

  double speed_with(int cpus) {
    Condition condition = made_.home;
    condition.cpus = cpus;
    return measure(condition).throughput;
  }

  void cores() {
    const int most = question_->most_cpus;
    const double full = speed_with(most);
    if (!question_->vary_cpus) return;
    const auto enough = [&](int cpus) { return speed_with(cpus) >= (1 - kAlike) * full; };
    int high = most;
    int low = most / 2;
    while (low >= 1 && enough(low)) {
      high = low;
      low /= 2;
    }
    // The knee lies in (low, high]: where the speed so far says, and one core from there.
    for (bool near = false; high - low > 1;) {
      const double slow = low >= 1 ? speed_with(low) : 0;
      const int told = slow > 0 ? static_cast<int>(std::ceil(low * full / slow - kRounding)) : high;
      const int next = std::clamp(near ? high - 1 : told, low + 1, high - 1);
      near = enough(next);
      (near ? high : low) = next;
    }
    made_.enough_cpus = high;
    // Below it in proportion, until that has been seen once.
    for (int above = low, cpus = low / 2; cpus >= 1; above = cpus, cpus /= 2) {
      const double expected = speed_with(above) * cpus / above;
      const double found = speed_with(cpus);
      if (found == 0 || std::abs(found / expected - 1) <= kAsFitted) return;
    }
  }

  void neighbour() {
    if (!question_->neighbour) return;
    Condition condition = made_.home;
    // With enough cores each, what is lost is lost to the GPU; else they share all there are.
    if (made_.enough_cpus && 2 * *made_.enough_cpus <= question_->most_cpus) {
      condition.cpus = *made_.enough_cpus;
    }
    condition.beside = true;
    measure(condition);
  }

  const Question* question_;
  const Measure* measure_;
  Survey made_;
};

}  // namespace

const Measured* Survey::find(const Condition& condition) const {
  const auto at = std::find_if(runs.begin(), runs.end(),
                               [&](const Measured& run) { return run.condition == condition; });
  return at == runs.end() ? nullptr : &*at;
}

Survey survey(const Question& question, const Measure& measure) {
  return Surveyor(question, measure).run();
}

std::vector<Condition> usual_plan(const Question& question) {
  const double usual = std::sqrt(question.batches.front() * question.batches.back());
  const Survey made = survey(question, [&](const Condition& at) -> Result<Measured> {
    const double fed = std::min(1.0, 4.0 * at.cpus / question.most_cpus);
    const double steps = fed / (usual + at.batch / at.gpus);
    return Measured{.condition = at, .throughput = steps * at.batch};
  });
  std::vector<Condition> plan;
  for (const Measured& run : made.runs) plan.push_back(run.condition);
  return plan;
}

}  // namespace almanac::profiling
