// SPDX-License-Identifier: Apache-2.0
#include "steer/sharing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "policy/registry.h"
#include "schedule/speed_book.h"

namespace almanac::steer {

using manager::JobNumber;

namespace {

/// Jobs that keep less of their speed than this are slowed by those next to them.
double harmless_rate(const policy::Composition& composition) {
  constexpr double kUsual = 0.9;
  const auto& known = policy::registry().packings.at(composition.packing).parameters;
  if (policy::find_parameter(known, "harmless_rate") == nullptr) return kUsual;
  return policy::Parameters(known, composition.packing).number("harmless_rate");
}

}  // namespace

void Sharing::look(const Mirror& mirror, const Exempt& exempt, const RoundJobs& jobs) {
  const std::vector<JobNumber>& numbers = jobs.numbers();
  roles_.assign(numbers.size(), {});
  nodes_ = shared_nodes(mirror);
  std::map<JobNumber, Role> hosts;
  for (const auto& [name, node] : nodes_) {
    const std::vector<int> open = node.open();
    if (node.is_mixed || node.is_unclear || open.size() != 1) continue;
    const auto& there = node.gpus[static_cast<std::size_t>(open.front())].jobs;
    if (there.size() != 1) continue;
    hosts[there.front()] = {.half = node.half(), .is_certain = node.stays_so()};
  }
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    const manager::Job* const known = mirror.find(numbers[at]);
    if (known == nullptr) continue;  // it is announced only
    const manager::Job& job = *known;
    if (!asks_shards(job) || job.nodes > 1 || is_exempt(job, exempt)) continue;
    if (at < jobs.num_running()) {
      const auto found = hosts.find(job.number);
      if (found != hosts.end()) roles_[at] = found->second;
    } else if (job.tasks.empty() && job.features.empty() && job.excluded_nodes.empty()) {
      roles_[at] = {.asks = job.shards, .is_careful = !may_be_parted(job)};
    }
  }
}

const policy::Speeds* Sharing::observe(const cluster::Cluster& cluster, const trace::Trace& log) {
  if (catalogue_ == nullptr || nodes_.empty()) return nullptr;
  speeds_ = std::make_unique<schedule::SpeedBook>(cluster, log, *catalogue_);
  return speeds_.get();
}

bool Sharing::may_share(JobId host, JobId guest) const {
  if (index(guest) >= roles_.size()) return false;  // a newcomer
  const Role& one = roles_[index(host)];
  const Role& other = roles_[index(guest)];
  return other.asks > 0 && other.asks <= one.half && (one.is_certain || !other.is_careful);
}

std::vector<Decision::Clash> Sharing::clashes(const schedule::Round& round, const RoundJobs& jobs,
                                              const policy::Composition& policy) const {
  if (speeds_ == nullptr) return {};
  const double harmless = harmless_rate(policy);
  std::map<JobNumber, JobId> ids;
  for (std::size_t at = 0; at < jobs.num_running(); ++at) {
    ids.emplace(jobs.numbers()[at], JobId{static_cast<std::uint32_t>(at)});
  }
  std::vector<Decision::Clash> made;
  for (const auto& [name, node] : nodes_) {
    for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
      const std::vector<JobNumber>& there = node.gpus[gpu].jobs;
      if (there.size() < 2) continue;
      double slowest = 1;
      for (const JobNumber each : there) {
        std::vector<JobId> others;
        for (const JobNumber other : there) {
          if (other != each && ids.contains(other)) others.push_back(ids.at(other));
        }
        if (!ids.contains(each)) continue;
        slowest = std::min(slowest, relative_speed(round, ids.at(each), others));
      }
      const bool has_whole = node.gpus[gpu].has_whole;
      if (!has_whole && slowest >= harmless) continue;
      if (has_whole) slowest = std::numeric_limits<double>::quiet_NaN();
      made.push_back({name, static_cast<int>(gpu), there, slowest});
    }
  }
  return made;
}

double Sharing::relative_speed(const schedule::Round& round, JobId job,
                               const std::vector<JobId>& others) const {
  const auto held = round.grants(job);
  const bool has_gpu = std::any_of(held.begin(), held.end(),
                                   [](const cluster::Grant& grant) { return grant.count() > 0; });
  if (!has_gpu) return 1;
  return speeds_->pace(job, held, others).rate / speeds_->rate(job, held);
}

}  // namespace almanac::steer
