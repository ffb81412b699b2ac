// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "policy/registry.h"
#include "schedule/speed_book.h"
#include "steer/aside.h"
#include "steer/decision.h"

namespace almanac::steer {

using slurm::JobNumber;

namespace {

/// Jobs that keep less of their speed than this are slowed by those beside them.
double harmless_rate(const policy::Composition& composition) {
  constexpr double kUsual = 0.9;
  const auto& known = policy::registry().packings.at(composition.packing).parameters;
  if (policy::find_parameter(known, "harmless_rate") == nullptr) return kUsual;
  return policy::Parameters(known, composition.packing).number("harmless_rate");
}

}  // namespace

/// Hosts are jobs that run alone on a GPU which a guest would get, or another all to itself,
/// whatever Slurm's order is (shards.h). Guests are jobs that Slurm could start on any node.
void Decider::look_who_may_share(const Mirror& mirror, const Exempt& exempt) {
  shared_.clear();
  company_.assign(numbers_.size(), {});
  decision_.knows_speeds = catalogue_ != nullptr;
  if (!lets_share()) return;
  shared_ = shared_nodes(mirror);
  std::map<JobNumber, Company> hosts;
  for (const auto& [name, node] : shared_) {
    const std::vector<int> open = node.open();
    if (node.is_mixed || node.is_unclear || open.size() != 1) continue;
    const auto& there = node.gpus[static_cast<std::size_t>(open.front())].jobs;
    if (there.size() != 1) continue;
    hosts[there.front()] = {.half = node.half(), .is_certain = node.stays_so()};
  }
  for (std::size_t at = 0; at < numbers_.size(); ++at) {
    const slurm::Job* const known = mirror.find(numbers_[at]);
    if (known == nullptr) continue;  // it is announced only
    const slurm::Job& job = *known;
    if (!asks_shards(job) || job.nodes > 1 || is_exempt(job, exempt)) continue;
    if (at < num_running_) {
      const auto found = hosts.find(job.number);
      if (found != hosts.end()) company_[at] = found->second;
    } else if (job.tasks.empty() && job.features.empty() && job.excluded_nodes.empty()) {
      company_[at] = {.asks = job.shards, .is_careful = !may_be_parted(job)};
    }
  }
  if (catalogue_ == nullptr || shared_.empty()) return;
  speeds_ = std::make_unique<schedule::SpeedBook>(decision_.world->cluster, trace_, *catalogue_);
  round_->observe(speeds_.get(), nullptr);
}

bool Decider::may_share(JobId host, JobId guest) const {
  if (index(guest) >= company_.size()) return false;  // a newcomer
  const Company& one = company_[index(host)];
  const Company& other = company_[index(guest)];
  return other.asks > 0 && other.asks <= one.half && (one.is_certain || !other.is_careful);
}

void Decider::find_clashes() {
  if (speeds_ == nullptr) return;
  const double harmless = harmless_rate(chosen_.composition);
  std::map<JobNumber, JobId> ids;
  for (std::size_t at = 0; at < num_running_; ++at) {
    ids.emplace(numbers_[at], JobId{static_cast<std::uint32_t>(at)});
  }
  for (const auto& [name, node] : shared_) {
    for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
      const std::vector<JobNumber>& jobs = node.gpus[gpu].jobs;
      if (jobs.size() < 2) continue;
      double slowest = 1;
      for (const JobNumber each : jobs) {
        std::vector<JobId> beside;
        for (const JobNumber other : jobs) {
          if (other != each && ids.contains(other)) beside.push_back(ids.at(other));
        }
        if (ids.contains(each)) slowest = std::min(slowest, relative_speed(ids.at(each), beside));
      }
      const bool has_whole = node.gpus[gpu].has_whole;
      if (!has_whole && slowest >= harmless) continue;
      if (has_whole) slowest = std::numeric_limits<double>::quiet_NaN();
      decision_.clashes.push_back({name, static_cast<int>(gpu), jobs, slowest});
    }
  }
}

/// Its speed beside others, as a fraction of its speed alone with what it holds; 1 where it is told
/// to hold no GPU.
double Decider::relative_speed(JobId job, const std::vector<JobId>& beside) const {
  const auto held = round_->grants(job);
  const bool has_gpu = std::any_of(held.begin(), held.end(),
                                   [](const cluster::Grant& grant) { return grant.count() > 0; });
  if (!has_gpu) return 1;
  return speeds_->pace(job, held, beside).rate / speeds_->rate(job, held);
}

}  // namespace almanac::steer
