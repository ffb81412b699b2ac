// SPDX-License-Identifier: Apache-2.0
#include "passes/synergy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "passes/passes.h"
#include "policy/registry.h"

namespace almanac::passes {
namespace {

constexpr const char* kRounds = "synergy_rounds";

}  // namespace

double WholeSteps::rate(double rate, double step_ms) const {
  if (!(step_ms > 0)) return rate;
  constexpr double kNearlyWhole = 1e-6;
  const auto lease_ms = static_cast<double>(lease_.count());
  const double steps = std::floor(lease_ms * rate / step_ms + kNearlyWhole);
  return steps < 1 ? rate : steps * step_ms / lease_ms;
}

Time WholeSteps::noticed(Time at) const {
  // Half a step is not done within a lease, so that an end is well within one or at its end.
  const Duration since = at.time_since_epoch() - phase_ - 2ms;
  return Time{phase_ + (since / lease_ + 1) * lease_};
}

Result<WholeSteps> as_synergy(experiment::PolicyRun& run, const trace::Trace& trace) {
  install();
  const policy::Registry& known = policy::registry();
  const auto& parameters = known.passes.find(kRounds)->parameters;
  policy::Choice rounds = kRounds;
  const Duration lease = known.lease(run.composition);
  bool fits = lease > Duration{0};
  for (const auto& [slot, choice] :
       {std::pair{"order", &run.composition.order}, std::pair{"size", &run.composition.size}}) {
    const auto& words = policy::find_parameter(parameters, slot)->words;
    const auto found = std::find(words.begin(), words.end(), choice->name);
    fits = fits && found != words.end();
    rounds.told[slot] = {static_cast<double>(found - words.begin())};
  }
  if (!fits) {
    return fail(
        Code::usage,
        fmt::format("Synergy's simulator has no policy {}: order {}, size {}, {}",
                    run.composition.name, run.composition.order.name, run.composition.size.name,
                    lease > Duration{0} ? "leases" : "no leases"),
        {},
        "it has synergy_proportional, synergy_greedy, synergy_tune and synergy_opt with order "
        "fifo, srtf, las, ftf, drf or tetris");
  }
  rounds.told["lease_s"] = {seconds(lease)};
  // Its static traces begin to be scheduled at 1 s, when the last job has come.
  const bool at_once = !trace.jobs.empty() &&
                       trace.jobs.back().request.submit - trace.jobs.front().request.submit < 1s;
  const Duration phase = at_once ? 1s : 0s;
  rounds.told["phase_s"] = {seconds(phase)};
  run.composition.pass = std::move(rounds);
  run.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s, .launch = 0s};
  return WholeSteps(lease, phase);
}

Result<sim::Schedule> simulate_as_synergy(const experiment::Prepared& prepared) {
  if (prepared.speeds == nullptr) {
    return fail(Code::usage, "Synergy's simulator needs to know how fast jobs run with what", {},
                "name the table of its models, a CSV");
  }
  experiment::PolicyRun run = prepared.runs.front();
  const auto steps = as_synergy(run, prepared.trace);
  if (!steps) return tl::unexpected(steps.error());
  const auto policy = experiment::make_policy(run, prepared.trace, prepared.model);
  if (!policy) return tl::unexpected(policy.error());
  sim::Options options = experiment::options_of(prepared, 0);
  options.restart = run.restart;
  options.truth.progress = &*steps;
  options.keeps_queue_rules = false;
  return sim::simulate(prepared.trace, prepared.cluster, **policy, options);
}

}  // namespace almanac::passes
