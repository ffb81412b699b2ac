// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/mirror.h"

#include <chrono>
#include <set>
#include <span>

#include <slurm/slurm_errno.h>

#include "base/wall_clock.h"
#include "gateway/limits.h"
#include "gateway/refusal.h"
#include "gateway/tell_job.h"
#include "gateway/tell_node.h"
#include "slurm/own_priority.h"

namespace almanac::gateway {
namespace {

/// A new partition need not be known sooner.
constexpr Duration kRestPause = 5s;
/// A new limit may be known later still.
constexpr Duration kSitePause = 30s;

/// Whether it is so long ago; a clock that was set back is no reason to wait.
bool is_due(Time seen, Duration pause, Time now) {
  return seen == kNoTime || std::chrono::abs(now - seen) >= pause;
}

/// Asks for what is newer than `seen`; whether there is, and then it is in `seen`.
template <typename Owner, typename Load>
Result<bool> renew(Owner& seen, const char* what, Load&& load) {
  typename Owner::pointer fresh = nullptr;
  const time_t since = seen == nullptr ? 0 : seen->last_update;
  if (load(since, &fresh) == SLURM_SUCCESS) {
    seen.reset(fresh);
    return true;
  }
  if (slurm_get_errno() == SLURM_NO_CHANGE_IN_DATA) return false;
  return refusal(std::string("get ") + what);
}

}  // namespace

Result<bool> Mirror::look_at_jobs() {
  const auto is_new = renew(jobs_, "jobs", [](time_t since, job_info_msg_t** into) {
    return slurm_load_jobs(since, into, SHOW_ALL | SHOW_DETAIL);
  });
  if (!is_new || !*is_new) return is_new;
  ahead_ = Time(std::chrono::seconds(jobs_->last_update)) - wall_clock();
  picture_.jobs.clear();
  picture_.jobs.reserve(jobs_->record_count);
  for (const slurm_job_info_t& info : std::span(jobs_->job_array, jobs_->record_count)) {
    picture_.jobs.push_back(tell(info));
  }
  if (const auto told = look_at_priorities(); !told) return tl::unexpected(told.error());
  return true;
}

Result<void> Mirror::look_at_priorities() {
  if (!works_out_priorities_) {
    slurm_conf_t* raw = nullptr;
    if (slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS) return refusal("get the configuration");
    const Configuration configuration(raw);
    works_out_priorities_ = text(configuration->priority_type) == "priority/multifactor";
  }
  if (!*works_out_priorities_) return {};
  priority_factors_response_msg_t* raw = nullptr;
  if (slurm_load_job_prio(&raw, nullptr, nullptr, nullptr, 0) != SLURM_SUCCESS) {
    return refusal("get the priorities");
  }
  const Priorities told(raw);
  std::set<manager::JobNumber> own;
  each<priority_factors_object_t>(told->priority_factors_list,
                                  [&](const priority_factors_object_t& job) {
                                    if (job.direct_prio > 0)
                                      own.insert(manager::JobNumber{job.job_id});
                                  });
  slurm::tell_own_priorities(picture_.jobs, own);
  return {};
}

Result<bool> Mirror::look_at_rest() {
  const auto reservations = renew(reservations_, "reservations", slurm_load_reservations);
  if (!reservations) return reservations;
  const auto licences = renew(licences_, "licences", [](time_t since, license_info_msg_t** into) {
    return slurm_load_licenses(since, into, SHOW_ALL);
  });
  if (!licences) return licences;
  const auto partitions =
      renew(partitions_, "partitions", [](time_t since, partition_info_msg_t** into) {
        return slurm_load_partitions(since, into, SHOW_ALL);
      });
  if (!partitions) return partitions;
  if (*reservations) picture_.reservations = tell(*reservations_);
  if (*licences) picture_.licences = tell(*licences_);
  if (*partitions) {
    picture_.partitions = tell(*partitions_);
    picture_.nodes = told_nodes();
  }
  rest_seen_ = wall_clock();
  return *reservations || *licences || *partitions;
}

std::vector<manager::Node> Mirror::told_nodes() const {
  std::vector<manager::Node> told = tell(*nodes_, picture_.partitions);
  for (manager::Node& node : told) {
    const auto found = switches_.find(node.name);
    if (found != switches_.end()) node.switches = found->second;
  }
  return told;
}

Result<bool> Mirror::look_at_site() {
  auto told = accounts();
  // A user who has no right to know them is told none.
  if (!told && told.error().code == Code::unavailable) return tl::unexpected(told.error());
  topo_info_response_msg_t* raw = nullptr;
  std::map<std::string, std::string> switches;
  if (slurm_load_topo(&raw) == SLURM_SUCCESS) {
    const Switches plugged(raw);
    switches = tell(*plugged);
  } else if (const auto failed = refusal("get the switches");
             failed.value().code == Code::unavailable) {
    return failed;
  }
  const bool is_new =
      switches != switches_ ||
      (told && (told->limits != picture_.limits || told->associations != picture_.associations));
  if (told) {
    picture_.limits = std::move(told->limits);
    picture_.associations = std::move(told->associations);
  }
  if (switches != switches_) {
    switches_ = std::move(switches);
    picture_.nodes = told_nodes();
  }
  site_seen_ = wall_clock();
  return is_new;
}

Result<bool> Mirror::look(bool whole) {
  const auto jobs = look_at_jobs();
  if (!jobs) return jobs;
  const auto nodes = renew(nodes_, "nodes", [](time_t since, node_info_msg_t** into) {
    return slurm_load_node(since, into, SHOW_ALL);
  });
  if (!nodes) return nodes;
  if (*nodes) picture_.nodes = told_nodes();
  bool is_new = *jobs || *nodes;
  if (whole || is_new || is_due(rest_seen_, kRestPause, wall_clock())) {
    const auto rest = look_at_rest();
    if (!rest) return rest;
    is_new = is_new || *rest;
  }
  if (whole || is_due(site_seen_, kSitePause, wall_clock())) {
    const auto site = look_at_site();
    if (!site) return site;
    is_new = is_new || *site;
  }
  return is_new;
}

Result<manager::News> Mirror::news(bool whole) {
  const auto is_new = look(whole);
  if (!is_new) {
    // What was asked for may be new and yet not told: from the beginning.
    *this = Mirror();
    return tl::unexpected(is_new.error());
  }
  if (whole) differences_.forget();
  picture_.at = wall_clock() + ahead_;
  if (!*is_new && !whole) return manager::News{.at = picture_.at};
  return differences_.to(picture_);
}

}  // namespace almanac::gateway
