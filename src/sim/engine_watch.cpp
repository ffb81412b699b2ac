// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/engine.h"
#include "sim/sample.h"
#include "sim/sample_interval.h"

namespace almanac::sim {

using cluster::Power;
using policy::Phase;

void Engine::sample_until(Time until) {
  for (; next_sample_ < until; next_sample_ += interval_) {
    if (options_.timeline_interval == Duration{0} && result_.timeline.size() >= kMostSamples) {
      thin_out(result_.timeline);
      interval_ *= 2;
    }
    result_.timeline.push_back(sample_of(next_sample_, round_.load(), round_.ledger()));
    result_.timeline.back().gpus_computing = gpus_computing();
    if (pacer_) result_.timeline.back().gpus_spared = pacer_->spared_gpus();
  }
}

void Engine::integrate_until(Time until) {
  const double step = seconds(until - now_);
  const cluster::Ledger& ledger = round_.ledger();
  result_.busy_gpu_s += step * ledger.busy_gpus();
  result_.total_gpu_s += step * ledger.total_gpus();
  if (pacer_) result_.spared_gpu_s += step * pacer_->spared_gpus();
  if (meter_) meter_->add(now_, until, ledger, pacer_ ? pacer_->spared_gpus() : 0);
  NodeUse& nodes = result_.nodes;
  nodes.on_gpu_s += step * ledger.gpus(Power::on);
  if (ledger.nodes(Power::booting) + ledger.nodes(Power::asleep) > 0) {
    nodes.booting_gpu_s += step * ledger.gpus(Power::booting);
    nodes.asleep_gpu_s += step * ledger.gpus(Power::asleep);
    nodes.asleep_node_s += step * ledger.nodes(Power::asleep);
  }
  Window& window = result_.window;
  const Duration inside = std::min(until, window.until) - std::max(now_, window.from);
  if (inside <= Duration{0}) return;
  const double span = seconds(inside);
  window.total_gpu_s += span * ledger.total_gpus();
  window.busy_gpu_s += span * ledger.busy_gpus();
  window.computing_gpu_s += span * gpus_computing();
  if (ledger.total_cpu_milli() == 0) return;
  window.total_cpu_s += span * 1e-3 * static_cast<double>(ledger.total_cpu_milli());
  window.busy_cpu_s += span * 1e-3 * static_cast<double>(ledger.busy_cpu_milli());
}

void Engine::watch() {
  const JobId job = options_.watch.job;
  if (job == kNoJob) return;
  if (pacer_) watch_pace(job);
  std::vector<Wait>& waits = result_.waits;
  const policy::Progress& state = round_.progress(job);
  const bool is_bound = state.phase == Phase::running && state.since > now_;
  if (is_bound && (waits.empty() || waits.back().until != state.since)) {
    const int gpus = trace_.jobs[index(job)].request.gpus;
    waits.push_back({now_, state.since, {.kind = policy::ReasonKind::booting, .wanted = gpus}});
  }
  const bool is_throttled = dependencies_.is_throttled(job);
  if (state.phase != Phase::waiting && !is_throttled) return;
  const policy::Reason reason = is_throttled ? throttle_reason(job) : round_.why_waiting(now_, job);
  if (!waits.empty() && waits.back().until == kNever) {
    // Numbers that drift while the kind stays are one reason; the first ones are kept.
    const policy::Reason& last = waits.back().reason;
    if (last.kind == reason.kind && last.slurm == reason.slurm && last.other == reason.other) {
      return;
    }
    waits.back().until = now_;
  }
  waits.push_back({now_, kNever, reason});
}

void Engine::watch_pace(JobId job) {
  std::vector<PaceChange>& paces = result_.paces;
  const bool runs = round_.progress(job).phase == Phase::running;
  const PaceChange pace = runs ? pacer_->explain(job, round_.grants(job), now_) : PaceChange{};
  if (!paces.empty() && paces.back().until == kNever) {
    PaceChange& last = paces.back();
    if (runs && last.rate == pace.rate && last.cpus == pace.cpus) return;
    last.until = now_;
    // Two changes at one instant: the first did not last.
    if (last.until == last.at) paces.pop_back();
  }
  if (runs) paces.push_back(pace);
}

}  // namespace almanac::sim
