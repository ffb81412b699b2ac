// SPDX-License-Identifier: Apache-2.0
#include "sim/pacer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "perf/bandwidth.h"
#include "perf/shared_in_time.h"

namespace almanac::sim {
namespace {

/// Returns a job's speed next to others if the kind of sharing decides it; 1 if the models do.
double speed_beside(const SharedGpus::Crowd& crowd) {
  switch (crowd.sharing) {
    case cluster::Sharing::mps:
      return perf::mps_speed(crowd.jobs.size());
    case cluster::Sharing::time:
      return perf::turn_speed(crowd.jobs.size());
    case cluster::Sharing::parts:
    case cluster::Sharing::mig:
      break;
  }
  return 1;
}

double in_ms(Duration duration) { return static_cast<double>(duration.count()); }

}  // namespace

Pacer::Pacer(const cluster::Cluster& cluster, const trace::Trace& trace,
             const schedule::SpeedBook& speeds, EndQueue& ends, const ProgressRule* rule,
             const elastic::Applications* applications)
    : cluster_(cluster),
      trace_(trace),
      speeds_(speeds),
      ends_(ends),
      rule_(rule),
      log_(trace),
      shared_(trace, cluster),
      links_(cluster, speeds),
      storage_(cluster, speeds),
      courses_(cluster, trace, applications),
      reports_(courses_.empty() ? 0 : trace.jobs.size()),
      jobs_(trace.jobs.size()) {
  const bool any = std::any_of(cluster.classes.begin(), cluster.classes.end(),
                               [](const auto& make) { return make.bandwidth_gbs > 0; });
  if (!any) return;
  nodes_.resize(cluster.nodes.size());
  nodes_of_.resize(trace.jobs.size());
}

void Pacer::start(JobId job, std::span<const cluster::Grant> held, Duration work, Time now,
                  const policy::Config& config) {
  Job& state = jobs_[index(job)];
  state.work_ms = in_ms(work);
  state.since = now;
  state.contention = 1;
  state.power_w = config.power_w;
  state.yields = config.yields;
  shared_.enter(job, held);
  if (courses_.has(job)) set_course(job, held, config);
  set_alone(job, held, now);
  if (contends(job)) {
    // A node twice, for two pieces of one job, is a node.
    std::vector<NodeId>& own = nodes_of_[index(job)];
    for (const cluster::Grant& grant : held) own.push_back(grant.node);
    for (const NodeId node : own) nodes_[index(node)].jobs.push_back(job);
    for (const NodeId node : own) judge(node, now);
    state.contention = static_cast<float>(contention_of(job));
  }
  count(job, +1);
  expect_end(job, now, false);
  share_traffic(job, held, config, now);
  retime(shared_.neighbours(job), now);
}

void Pacer::credit(JobId job, Duration work) {
  jobs_[index(job)].done_ms = in_ms(work);
  courses_.credit(job, in_ms(work));
}

void Pacer::stop(JobId job, Time now) {
  ends_.erase(job);
  end(job, now);
}

void Pacer::end(JobId job, Time now) {
  Job& state = jobs_[index(job)];
  settle(job, now);
  log_.close(job, state.done_ms, now);
  count(job, -1);
  state.alone = 0;
  if (courses_.has(job) && reports_.contains(job)) reports_.erase(job);
  if (contends(job)) {
    std::vector<NodeId> own;
    own.swap(nodes_of_[index(job)]);
    for (const NodeId node : own) std::erase(nodes_[index(node)].jobs, job);
    for (const NodeId node : own) judge(node, now);
  }
  slow_all(links_.leave(job), now);
  if (storage_.leave(job)) slow_all(storage_.readers(), now);
  const std::vector<JobId> left = shared_.neighbours(job);
  shared_.leave(job);
  retime(left, now);
}

void Pacer::resize(JobId job, std::span<const cluster::Grant> held, Time now,
                   const policy::Config& config) {
  jobs_[index(job)].power_w = config.power_w;
  const bool gives_way_anew =
      std::exchange(jobs_[index(job)].yields, config.yields) != config.yields;
  if (courses_.has(job)) {
    settle(job, now);
    set_course(job, held, config);
  }
  if (!shared_.has(job) && !SharedGpus::has_parts(held)) {
    pace_anew(job, held, now);
    return share_traffic(job, held, config, now);
  }
  const std::vector<JobId> left = shared_.neighbours(job);
  count(job, -1);
  shared_.leave(job);
  shared_.enter(job, held);
  count(job, +1);
  pace_anew(job, held, now);
  share_traffic(job, held, config, now);
  const std::vector<JobId> joined = shared_.neighbours(job);
  if (joined == left && !gives_way_anew) return;
  retime(left, now);
  retime(joined, now);
}

void Pacer::set_course(JobId job, std::span<const cluster::Grant> held,
                       const policy::Config& config) {
  const Job& state = jobs_[index(job)];
  courses_.hold(job, held,
                {.batch = config.batch, .power = speeds_.power(job, held, config.power_w)},
                state.work_ms, state.done_ms);
}

void Pacer::pace_anew(JobId job, std::span<const cluster::Grant> held, Time now) {
  Job& state = jobs_[index(job)];
  settle(job, now);
  log_.close(job, state.done_ms, now);
  count(job, -1);
  set_alone(job, held, now);
  count(job, +1);
  expect_end(job, now, true);
  if (storage_.pace(job, jobs_[index(job)].alone)) slow_all(storage_.readers(), now);
  if (!contends(job)) return;
  for (const NodeId node : nodes_of_[index(job)]) judge(node, now);
}

void Pacer::set_alone(JobId job, std::span<const cluster::Grant> held, Time now) {
  const Shared shared = shared_pace(job, held);
  const policy::Pace& pace = shared.pace;
  ALMANAC_CHECK(pace.rate > 0, "job {} runs at no speed", index(job));
  // Told in single precision: no step is known to less than a microsecond.
  const double step_ms = std::round(double{trace_.jobs[index(job)].outcome.step_s} * 1e6) / 1e3;
  jobs_[index(job)].alone = rule_ == nullptr ? pace.rate : rule_->rate(pace.rate, step_ms);
  jobs_[index(job)].computing = static_cast<float>(pace.computing);
  jobs_[index(job)].spared = spared_by(job, held);
  jobs_[index(job)].gpu_milli = 0;
  for (const cluster::Grant& grant : held) {
    const bool is_instance = grant.profile != slices::kNoProfile;
    jobs_[index(job)].gpu_milli +=
        grant.count() * (is_instance ? grant.gpu_milli : cluster::kWholeGpu);
  }
  log_.open(job, held, parts_of(job, held, shared, pace.rate), pace, jobs_[index(job)].done_ms,
            now);
}

perf::Parts Pacer::parts_of(JobId job, std::span<const cluster::Grant> held, const Shared& shared,
                            double alone) const {
  if (trace_.jobs[index(job)].request.gpus == 0) return {.cpus = alone, .computing = 0};
  const Job& state = jobs_[index(job)];
  if (!courses_.paces(job)) {
    const bool by_model = shared.neighbours == 1;
    perf::Parts parts = speeds_.parts(
        job, held, by_model ? std::span<const JobId>(shared.beside) : std::span<const JobId>{},
        state.power_w, state.yields);
    if (!by_model) parts.neighbours = shared.neighbours;
    return parts;
  }
  const double own = courses_.rate(job);
  const double power = courses_.power(job);
  return {.gpus = own / power, .neighbours = alone / own, .power = power};
}

float Pacer::spared_by(JobId job, std::span<const cluster::Grant> held) const {
  double spared = 0;
  for (const cluster::Grant& grant : held) {
    if (grant.gpus == 0) continue;
    spared += speeds_.spared(job, grant.node, jobs_[index(job)].power_w) * grant.count() *
              grant.gpu_milli / cluster::kWholeGpu;
  }
  return static_cast<float>(spared);
}

Pacer::Shared Pacer::shared_pace(JobId job, std::span<const cluster::Grant> held) const {
  const auto [power_w, yields] = std::pair(jobs_[index(job)].power_w, jobs_[index(job)].yields);
  Shared made{speeds_.pace(job, held, {}, power_w), {}};
  const policy::Pace alone = made.pace;
  for (SharedGpus::Crowd& crowd : shared_.crowds(job)) {
    // What yields slows none that does not.
    if (!yields) std::erase_if(crowd.jobs, [&](JobId each) { return jobs_[index(each)].yields; });
    policy::Pace pace = alone;
    const double neighbours = speed_beside(crowd);
    if (neighbours == 1) {
      pace = speeds_.pace(job, held, crowd.jobs, power_w, yields);
    } else {
      pace.rate *= neighbours;
    }
    if (pace.rate <= made.pace.rate) made = {pace, std::move(crowd.jobs), neighbours};
  }
  // Its own part of the time, not that in which the GPU computes for others.
  if (!made.beside.empty()) made.pace.computing = alone.computing * made.pace.rate / alone.rate;
  if (courses_.paces(job)) made.pace.rate *= courses_.rate(job) / alone.rate;
  return made;
}

void Pacer::retime(std::span<const JobId> jobs, Time now) {
  for (const JobId job : jobs) pace_anew(job, shared_.held(job), now);
}

void Pacer::settle(JobId id, Time now) {
  Job& job = jobs_[index(id)];
  const double done = job.rate() * in_ms(now - job.since);
  job.done_ms += done;
  job.since = now;
  if (courses_.has(id)) courses_.advance(id, done);
}

void Pacer::count(JobId job, int sign) {
  spared_ += sign * in_units(jobs_[index(job)].spared);
  const trace::Request& asked = trace_.jobs[index(job)].request;
  // A job that asks a part keeps that busy, not the GPU.
  const GpuUnits use = sign * in_units(use_of(job) * asked.gpu_part());
  computing_ += shared_.has(job) ? shared_.add_use(job, use)
                                 : use * jobs_[index(job)].gpu_milli / cluster::kWholeGpu;
}

double Pacer::asked_of_each(JobId job, std::size_t nodes) const {
  return double{trace_.jobs[index(job)].outcome.bandwidth_gbs} * jobs_[index(job)].alone /
         static_cast<double>(nodes);
}

void Pacer::judge(NodeId id, Time now) {
  const double peak = cluster_.classes[cluster_.nodes[index(id)].node_class].bandwidth_gbs;
  if (peak <= 0) return;
  Node& node = nodes_[index(id)];
  // From the beginning, so that no error adds up.
  node.asked_gbs = 0;
  for (const JobId job : node.jobs) {
    node.asked_gbs += asked_of_each(job, nodes_of_[index(job)].size());
  }
  const double speed = perf::bandwidth_speed(peak, node.asked_gbs);
  if (speed == node.speed) return;
  node.speed = speed;
  for (const JobId job : node.jobs) slow(job, now);
}

double Pacer::contention_of(JobId job) const {
  double speed = std::min(links_.speed(job), storage_.speed(job));
  if (nodes_.empty()) return speed;
  for (const NodeId node : nodes_of_[index(job)])
    speed = std::min(speed, nodes_[index(node)].speed);
  return speed;
}

void Pacer::share_traffic(JobId job, std::span<const cluster::Grant> held,
                          const policy::Config& config, Time now) {
  std::vector<JobId> before = links_.leave(job);
  const std::vector<JobId> after = links_.enter(job, held, config);
  before.insert(before.end(), after.begin(), after.end());
  const bool had = storage_.leave(job);
  const bool has = storage_.enter(job, jobs_[index(job)].alone, config);
  slow(job, now);
  slow_all(before, now);
  if (had || has) slow_all(storage_.readers(), now);
}

void Pacer::slow_all(std::span<const JobId> jobs, Time now) {
  for (const JobId job : jobs) slow(job, now);
}

void Pacer::slow(JobId job, Time now) {
  Job& state = jobs_[index(job)];
  const auto contention = static_cast<float>(contention_of(job));
  if (contention == state.contention || !ends_.contains(job)) return;
  settle(job, now);
  count(job, -1);
  state.contention = contention;
  count(job, +1);
  expect_end(job, now, true);
}

void Pacer::expect_end(JobId job, Time now, bool queued) {
  const Job& state = jobs_[index(job)];
  const double left_ms = std::max(0.0, state.work_ms - state.done_ms);
  Time at = now + Duration{static_cast<Duration::rep>(std::ceil(left_ms / state.rate()))};
  if (rule_ != nullptr) at = rule_->noticed(at);
  if (queued) ends_.erase(job);
  ends_.push(at, job);
  if (courses_.has(job)) expect_report(job, now);
}

void Pacer::expect_report(JobId job, Time now) {
  if (reports_.contains(job)) reports_.erase(job);
  const double ms = courses_.until_next(job) / jobs_[index(job)].rate();
  if (std::isinf(ms)) return;
  reports_.push(now + Duration{static_cast<Duration::rep>(std::ceil(ms))}, job);
}

std::optional<double> Pacer::report(std::span<const cluster::Grant> held, Time now) {
  const JobId job = reports_.job();
  settle(job, now);
  const auto told = courses_.pass(job);
  pace_anew(job, held, now);
  return told;
}

PaceChange Pacer::explain(JobId job, std::span<const cluster::Grant> held, Time now) const {
  const Job& state = jobs_[index(job)];
  PaceChange pace{.at = now,
                  .rate = state.rate(),
                  .parts = parts_of(job, held, shared_pace(job, held), state.alone),
                  .bandwidth = state.contention};
  pace.parts.computing = use_of(job);
  for (const cluster::Grant& grant : held) pace.cpus += grant.cpu_milli / 1e3;
  return pace;
}

PaceLog Pacer::take_log(Time now) {
  for (std::uint32_t at = 0; at < jobs_.size(); ++at) {
    Job& state = jobs_[at];
    if (state.alone == 0) continue;
    settle(JobId{at}, now);
    log_.close(JobId{at}, state.done_ms, now);
  }
  return std::move(log_);
}

double Pacer::use_of(JobId job) const {
  const Job& state = jobs_[index(job)];
  return state.alone > 0 ? double{state.computing} * state.contention : 0;
}

double Pacer::drawn_by(JobId job) const {
  const double most = trace_.jobs[index(job)].outcome.bandwidth_gbs;
  return most > 0 ? most * jobs_[index(job)].rate() : 0;
}

std::optional<double> Pacer::bandwidth_gbs(NodeId node) const {
  if (nodes_.empty()) return 0.0;
  const Node& here = nodes_[index(node)];
  double drawn = 0;
  for (const JobId job : here.jobs) {
    drawn += drawn_by(job) / static_cast<double>(nodes_of_[index(job)].size());
  }
  return drawn;
}

std::optional<policy::Training> Pacer::training(JobId job, Time now) const {
  if (!paces(job)) return std::nullopt;
  const Job& state = jobs_[index(job)];
  return courses_.training(job, state.rate() * in_ms(now - state.since));
}

std::optional<Duration> Pacer::worked(JobId job, Time now) const {
  if (!paces(job)) return std::nullopt;
  const Job& state = jobs_[index(job)];
  return Duration{std::llround(state.done_ms + state.rate() * in_ms(now - state.since))};
}

}  // namespace almanac::sim
