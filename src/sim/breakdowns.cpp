// SPDX-License-Identifier: Apache-2.0
#include "sim/breakdowns.h"

#include <algorithm>
#include <cmath>

#include "faults/lemon_test.h"

namespace almanac::sim {

using faults::Unit;

namespace {

/// The interval of a job that writes no checkpoints, with room to add to it.
constexpr Duration kEndless = Duration::max() / 4;

}  // namespace

Breakdowns::Breakdowns(const faults::Model& model, const cluster::Cluster& cluster,
                       const trace::Trace& trace, std::uint64_t seed, Time begin)
    : model_(model),
      cluster_(cluster),
      trace_(trace),
      node_faults_(model, cluster, seed, begin),
      job_faults_(model, seed, trace.jobs.size()),
      failing_(trace.jobs.size()),
      pausing_(trace.jobs.size()),
      jobs_(trace.jobs.size()),
      nodes_(cluster.nodes.size(), Node{.since = begin, .spare_since = begin}) {
  log_.lemons = node_faults_.lemons();
  for (const cluster::NodeClass& each : cluster.classes) {
    most_gpus_ = std::max(most_gpus_, each.gpus);
  }
  for (const cluster::VirtualCluster& vc : cluster.vcs) {
    const auto spares = static_cast<std::uint32_t>(model.spares);
    if (spares >= vc.num_nodes) continue;
    for (std::uint32_t at = vc.num_nodes - spares; at < vc.num_nodes; ++at) {
      spares_.push_back(NodeId{static_cast<std::uint32_t>(index(vc.first)) + at});
    }
  }
}

void Breakdowns::resume(std::span<const NodeId> drained, Time now) {
  spares_.clear();
  std::vector<std::int32_t> free(cluster_.vcs.size(), model_.spares);
  for (auto at = drained.rbegin(); at != drained.rend(); ++at) {
    if (free[index(cluster_.nodes[index(*at)].vc)]-- > 0) {
      spares_.push_back(*at);
    } else {
      returns_.emplace(now + node_faults_.draw_repair(*at), *at);
    }
  }
}

Time Breakdowns::next(bool nothing_left) const {
  Time at = returns_.empty() ? kNever : returns_.top().first;
  if (!pausing_.empty()) at = std::min(at, pausing_.next());
  if (nothing_left) return at;
  at = std::min(at, node_faults_.next_at());
  return failing_.empty() ? at : std::min(at, failing_.next());
}

std::optional<Breakdowns::Event> Breakdowns::take(Time now) {
  if (!returns_.empty() && returns_.top().first <= now) {
    const NodeId node = returns_.top().second;
    returns_.pop();
    return Event{.kind = Kind::repaired, .node = node};
  }
  if (!pausing_.empty() && pausing_.next() <= now) {
    const JobId job = pausing_.job();
    pausing_.pop();
    return Event{.kind = Kind::retried, .job = job};
  }
  // What would have failed while nothing ran (next()).
  while (node_faults_.next_at() < now) node_faults_.take();
  if (node_faults_.next_at() <= now) {
    const faults::NodeFaults::Fault fault = node_faults_.take();
    return Event{.kind = fault.is_notice ? Kind::announced : Kind::node_failed,
                 .node = fault.node,
                 .cause = fault.cause,
                 .fails_at = fault.fails_at,
                 .repair = fault.repair};
  }
  if (failing_.empty() || failing_.next() > now) return std::nullopt;
  const JobId job = failing_.job();
  failing_.pop();
  return Event{.kind = Kind::job_failed,
               .job = job,
               .cause = job_faults_.take(job, trace_.jobs[index(job)].request.gpus)};
}

Duration Breakdowns::interval(JobId job) const {
  const trace::Request& request = trace_.jobs[index(job)].request;
  if (request.checkpoint_s > 0) {
    return std::max(Duration{1}, Duration{std::llround(double{request.checkpoint_s} * 1e3)});
  }
  if (request.checkpoint_s == 0) return kEndless;
  const Duration best = model_.interval(request.gpus, most_gpus_);
  return best == kNoDuration ? kEndless : best;
}

Duration Breakdowns::restart(JobId job) const {
  const float own_s = trace_.jobs[index(job)].request.restart_s;
  return std::isnan(own_s) ? model_.restart : Duration{std::llround(double{own_s} * 1e3)};
}

Duration Breakdowns::writes(JobId job, Duration work) const {
  // The end needs none.
  return std::max<std::int64_t>(0, (work - Duration{1}) / interval(job)) * model_.checkpoints.write;
}

void Breakdowns::started(JobId job, Time now, Duration attained) {
  const int gpus = trace_.jobs[index(job)].request.gpus;
  if (const auto at = job_faults_.next(job, gpus, attained)) {
    failing_.push(now + (*at - attained), job);
  }
  Job& state = jobs_[index(job)];
  if (state.open > 0) log_.interruptions[state.open - 1].resumed = now;
  state.open = 0;
}

void Breakdowns::stopped(JobId job, Duration position, Duration restart) {
  ended(job);
  Job& state = jobs_[index(job)];
  state.saved = std::max(Duration{0}, position + restart);
  state.useful = std::max(state.useful, state.saved);
}

void Breakdowns::ended(JobId job) {
  if (failing_.contains(job)) failing_.erase(job);
}

Duration Breakdowns::fail(Time now, JobId job, Duration position, const Event& event) {
  ended(job);
  Job& state = jobs_[index(job)];
  const Duration write = model_.checkpoints.write;
  const Duration cycle = interval(job) + write;
  Duration saved = position / cycle * cycle;
  const faults::Cause& cause = model_.causes[event.cause];
  const bool in_time = cause.notice > Duration{0} && cause.notice >= write;
  if (in_time) saved = std::max(saved, position - write);
  // A job that states 0 loses nothing (policy::RestartCost).
  if (trace_.jobs[index(job)].request.checkpoint_s == 0) saved = position;
  state.saved = std::max(state.saved, saved);
  const Duration lost = std::max(Duration{0}, position - state.saved);
  state.in_row = state.saved > state.seen || state.interruptions == 0 ? 1 : state.in_row + 1;
  state.seen = state.saved;
  state.useful = std::max(state.useful, state.saved);
  ++state.interruptions;
  const Duration again = restart(job);
  log_.interruptions.push_back({.at = now,
                                .job = job,
                                .node = event.node,
                                .cause = event.cause,
                                .gpus = trace_.jobs[index(job)].request.gpus,
                                .lost = lost,
                                .restart = again,
                                .gave_up = gave_up(job)});
  state.open = static_cast<std::uint32_t>(log_.interruptions.size());
  return position - state.saved + again;
}

Time Breakdowns::retry(Time now, JobId job) {
  if (gave_up(job)) return kNever;
  const Time again = now + back_off(job);
  if (again > now) pause(job, again);
  return again;
}

Duration Breakdowns::back_off(JobId job) const {
  Duration wait = std::min(model_.retry.wait, model_.retry.longest);
  for (int round = 1; round < jobs_[index(job)].in_row && wait > Duration{0}; ++round) {
    if (wait >= model_.retry.longest) break;
    wait = std::min(2 * wait, model_.retry.longest);
  }
  return wait;
}

bool Breakdowns::stops(const Event& event, std::span<const cluster::Grant> grants) const {
  const Unit unit = model_.causes[event.cause].unit;
  if (unit != Unit::link && unit != Unit::gpu) return true;
  return std::any_of(grants.begin(), grants.end(), [&](const cluster::Grant& each) {
    return unit == Unit::link ? each.node != event.node
                              : each.node == event.node && each.count() > 0;
  });
}

std::optional<NodeId> Breakdowns::send_out(Time now, const Event& event) {
  Node& state = nodes_[index(event.node)];
  ++state.failures;
  faults::Outage outage{.at = now,
                        .until = now + event.repair,
                        .node = event.node,
                        .cause = event.cause,
                        .gpus = gpus_of(event.node),
                        .is_lemon = node_faults_.is_lemon(event.node)};
  const Duration watched = now - state.since - state.out;
  const double per_day = model_.node_per_day(outage.gpus);
  if (model_.lemons.test && faults::is_lemon(state.failures, watched, per_day)) {
    outage.found_lemon = true;
    outage.until = now + std::max(event.repair, model_.lemons.replace);
    node_faults_.replace(event.node, outage.until);
    state = {.since = outage.until, .spare_since = outage.until};
  } else {
    state.out += event.repair;
  }
  returns_.emplace(outage.until, event.node);
  log_.outages.push_back(outage);
  const VcId vc = cluster_.nodes[index(event.node)].vc;
  const auto spare = std::find_if(spares_.begin(), spares_.end(), [&](NodeId each) {
    const cluster::Node& node = cluster_.nodes[index(each)];
    return node.vc == vc && node.node_class == cluster_.nodes[index(event.node)].node_class;
  });
  if (spare == spares_.end()) return std::nullopt;
  const NodeId found = *spare;
  spares_.erase(spare);
  Node& put_in = nodes_[index(found)];
  put_in.out += now - put_in.spare_since;
  state.replaced = true;
  return found;
}

bool Breakdowns::take_back(NodeId node, Time now) {
  Node& state = nodes_[index(node)];
  if (!state.replaced) return true;
  state.replaced = false;
  // A found lemon counts from its return on.
  state.spare_since = std::max(now, state.since);
  spares_.push_back(node);
  return false;
}

faults::Log Breakdowns::take_log(std::span<const policy::Progress> progress,
                                 std::span<const Duration> works, Time now) {
  for (std::uint32_t number = 0; number < jobs_.size(); ++number) {
    const policy::Progress& state = progress[number];
    if (state.start == kNoTime) continue;
    const JobId job{number};
    const bool runs = state.phase == policy::Phase::running;
    const bool done = state.phase == policy::Phase::ended;
    const Duration held =
        state.attained + (runs ? std::max(Duration{0}, now - state.since) : Duration{0});
    const Duration write = model_.checkpoints.write;
    const Duration each = interval(job);
    // Whole cycles, and the work after them.
    const Duration position =
        runs ? std::max(jobs_[number].useful, held - state.charged) : jobs_[number].useful;
    const std::int64_t cycles = position / (each + write);
    const Duration partly = cycles * each + std::min(each, position % (each + write));
    log_.jobs.push_back({.job = job,
                         .gpus = trace_.jobs[number].request.gpus,
                         .useful = done ? works[number] : partly,
                         .written = done ? writes(job, works[number]) : cycles * write,
                         .span = (state.end != kNoTime ? state.end : now) - state.start,
                         .held = held,
                         .interruptions = jobs_[number].interruptions});
  }
  return std::move(log_);
}

}  // namespace almanac::sim
