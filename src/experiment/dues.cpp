// SPDX-License-Identifier: Apache-2.0
#include "experiment/dues.h"

#include <limits>
#include <map>

namespace almanac::experiment {
namespace {

/// Whose each job is: the position of a tenant, of all that are none behind these; or a user's.
class Owners {
 public:
  Owners(const trace::Trace& trace, const cluster::Cluster& cluster)
      : trace_(trace), cluster_(cluster), by_tenant_(!cluster.tenants.empty()) {}

  std::size_t of(const trace::Request& request, TenantId tenant) {
    const std::size_t key = !by_tenant_           ? index(request.user)
                            : tenant == kNoTenant ? cluster_.tenants.size()
                                                  : index(tenant);
    const auto [found, is_new] = known_.try_emplace(key, claimants_.size());
    if (is_new) claimants_.push_back({.name = name_of(key, request), .weight = weight_of(key)});
    return found->second;
  }
  const std::vector<fairness::Claimant>& all() const { return claimants_; }
  bool by_tenant() const { return by_tenant_; }

 private:
  double weight_of(std::size_t key) const {
    if (!by_tenant_) return 1;
    return key < cluster_.tenants.size() ? cluster_.tenants[key].guarantee : 0;
  }
  std::string name_of(std::size_t key, const trace::Request& request) const {
    if (by_tenant_) {
      return key < cluster_.tenants.size() ? "tenant " + cluster_.tenants[key].name : "others";
    }
    return request.user == kNoName ? "others" : "user " + std::string(trace_.names[request.user]);
  }

  const trace::Trace& trace_;
  const cluster::Cluster& cluster_;
  bool by_tenant_;
  std::map<std::size_t, std::size_t> known_;
  std::vector<fairness::Claimant> claimants_;
};

}  // namespace

Dues judge(const trace::Trace& trace, const cluster::Cluster& cluster,
           const sim::Schedule& schedule) {
  const double all_s = seconds(schedule.finish - schedule.begin);
  Owners owners(trace, cluster);
  std::vector<fairness::Stay> stays;
  for (std::size_t job = 0; job < schedule.jobs.size(); ++job) {
    const trace::Request& request = trace.jobs[job].request;
    const sim::JobResult result = schedule.jobs[job];
    if (request.gpus == 0 || result.phase == policy::Phase::unknown ||
        result.phase == policy::Phase::never) {
      continue;
    }
    const Time end = result.end != kNoTime ? result.end : schedule.finish;
    fairness::Stay& stay = stays.emplace_back(
        fairness::Stay{.owner = owners.of(request, result.tenant),
                       .gpus = request.gpus * request.gpu_part(),
                       .submit_s = seconds(sim::joined(request, result) - schedule.begin),
                       .end_s = seconds(end - schedule.begin)});
    if (result.start != kNoTime) {
      stay.start_s = seconds(result.start - schedule.begin);
      stay.ran_s = seconds(result.ran);
    }
    if (result.phase == policy::Phase::ended) {
      stay.alone_s = seconds(trace.jobs[job].outcome.run);
    }
  }
  if (owners.all().size() < 2 || all_s <= 0) return {};
  return fairness::judge(owners.all(), stays, all_s, schedule.total_gpu_s / all_s,
                         owners.by_tenant());
}

}  // namespace almanac::experiment
