// SPDX-License-Identifier: Apache-2.0
#include "steer/outlook.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/admission.h"
#include "steer/occupancy.h"
#include "steer/quotas.h"
#include "steer/record.h"
#include "store/log.h"

namespace almanac::steer {
namespace {

using manager::JobNumber;

class Builder {
 public:
  Builder(const Mirror& mirror, const World& world)
      : mirror_(mirror), world_(world), admission_(world.cluster, names_), quotas_(mirror) {
    made_.at = mirror.at();
  }

  void add_running() {
    std::vector<const manager::Job*> running = running_jobs(mirror_);
    std::vector<Occupied> occupied = count_out(world_, running);
    for (std::size_t at = 0; at < running.size(); ++at) {
      if (occupied[at].held.empty()) continue;
      const manager::Job& job = *running[at];
      const Time since = job.start == kNoTime ? made_.at : std::min(job.start, made_.at);
      store::Job stored = as_asked(job);
      stored.held_gpus = std::move(occupied[at].held);
      if (!can_run(stored)) continue;
      quotas_.put(next(), job);
      quotas_.hand_over(job);
      made_.jobs.push_back({.job = std::move(stored),
                            .past = {.since = since, .start = since, .tenant = tenant_of(job)},
                            .runs = true,
                            .priority_tier = world_.tier(job)});
    }
  }

  void add_waiting(std::span<const JobNumber> queue) {
    std::unordered_map<JobNumber, std::int64_t> tasks;
    for (const JobNumber number : queue) {
      const manager::Job* const job = mirror_.find(number);
      if (job == nullptr || !waits(*job)) continue;
      store::Job stored = as_asked(*job);
      if (!can_run(stored)) continue;
      const std::int64_t task = tasks[number]++;
      quotas_.put(next(), *job);
      stored.number = store::JobNumber{static_cast<std::int64_t>(number) + (task << 32)};
      made_.jobs.push_back(
          {.job = std::move(stored),
           .past = {.since = std::min(job->submit, made_.at), .tenant = tenant_of(*job)},
           .priority_tier = world_.tier(*job)});
    }
  }

  /// Requires that waiting jobs were added.
  void add_drained() {
    std::map<std::string, Time> reserved_until;
    for (const manager::Reservation& each : mirror_.reservations()) {
      const Time end = each.end == kNoTime ? kNever : each.end;
      if (each.start > made_.at || end <= made_.at) continue;
      for (const std::string& node : each.nodes) {
        Time& until = reserved_until.try_emplace(node, end).first->second;
        until = std::max(until, end);
      }
    }
    std::set<NodeId> out;
    for (const auto& [name, id] : world_.nodes) {
      const auto found = mirror_.nodes().find(name);
      const auto reserved = reserved_until.find(name);
      bool is_closed = found == mirror_.nodes().end() || is_out(found->second);
      if (is_closed && found != mirror_.nodes().end() && reserved != reserved_until.end() &&
          reserved->second < kNever) {
        manager::Node node = found->second;
        node.reserved = false;
        is_closed = is_out(node);
      }
      if (is_closed) out.insert(id);
    }
    made_.drained.assign(out.begin(), out.end());
    close_reserved(out);
  }

  TenantId tenant_of(const manager::Job& job) const {
    return steer::tenant_of(world_.tenants, job.account, job.user, job.partition);
  }

  service::Outlook take() {
    made_.quotas = std::move(quotas_.book());
    return std::move(made_);
  }

 private:
  /// Closes the nodes of reservations that are not out of service anyway. The manager starts no job
  /// that would run into one. Which jobs that will be is not known for a future, so a node closes
  /// from when half of the waiting jobs would, by their limits.
  void close_reserved(const std::set<NodeId>& out) {
    std::vector<Duration> limits;
    for (const service::Outlook::One& one : made_.jobs) {
      const Duration limit = one.job.asked->time_limit;
      if (!one.runs) limits.push_back(limit == kNoDuration ? Duration::max() : limit);
    }
    const auto middle = limits.begin() + static_cast<std::ptrdiff_t>(limits.size() / 2);
    if (!limits.empty()) std::nth_element(limits.begin(), middle, limits.end());
    const Duration lead = limits.empty() ? Duration{0} : *middle;
    for (const manager::Reservation& each : mirror_.reservations()) {
      const Time end = each.end == kNoTime ? kNever : each.end;
      if (end <= made_.at) continue;
      sim::Closure closure{.from = made_.at, .to = end};
      if (each.start > made_.at && lead < each.start - made_.at) closure.from = each.start - lead;
      for (const std::string& name : each.nodes) {
        const auto [first, last] = world_.nodes.equal_range(name);
        for (auto at = first; at != last; ++at) {
          if (!out.contains(at->second)) closure.nodes.push_back(at->second);
        }
      }
      std::sort(closure.nodes.begin(), closure.nodes.end());
      if (!closure.nodes.empty()) made_.closed_nodes.push_back(std::move(closure));
    }
  }

  JobId next() const { return JobId{static_cast<std::uint32_t>(made_.jobs.size())}; }

  /// The job, with what policies take it to ask.
  store::Job as_asked(const manager::Job& job) {
    store::Job made = to_stored(job, world_);
    const trace::Request request = to_request(job, world_, names_);
    store::Submission& asked = made.asked.change();
    asked.gpus = request.gpus;
    asked.gpu_share = request.gpu_share;
    if (!world_.cluster.takes_every_job) asked.vc = owner_of_nodes(job, world_);
    return made;
  }

  bool can_run(const store::Job& job) {
    const trace::Request request = store::record_of(job, names_).request;
    const VcId vc = admission_.vc(request);
    return !admission_.never(vc, admission_.demand(request, vc));
  }

  const Mirror& mirror_;
  const World& world_;
  Names names_;
  schedule::Admission admission_;
  Quotas quotas_;
  service::Outlook made_;
};

}  // namespace

service::Outlook outlook_of(const Mirror& mirror, const World& world,
                            std::span<const JobNumber> queue) {
  Builder builder(mirror, world);
  builder.add_running();
  builder.add_waiting(queue);
  builder.add_drained();
  return builder.take();
}

}  // namespace almanac::steer
