// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/tell_job.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <map>
#include <mutex>

#include <pwd.h>

#include "slurm/gres.h"
#include "slurm/types.h"
#include "text/host_list.h"
#include "trace/tres.h"

// libslurm exports it, though no header declares it.
extern "C" {
char* slurm_job_state_string(std::uint32_t state);
char* slurm_job_reason_string(job_state_reason reason);
}

namespace almanac::gateway {
namespace {

using manager::Held;
using manager::Job;
using manager::JobNumber;
using manager::State;

/// Returns the state of a number, as slurm/states.h does for words.
State state_of(std::uint32_t state) {
  if ((state & (JOB_COMPLETING | JOB_STAGE_OUT | JOB_SIGNALING)) != 0) return State::completing;
  if ((state & (JOB_REQUEUE | JOB_REQUEUE_HOLD | JOB_REQUEUE_FED | JOB_SPECIAL_EXIT)) != 0) {
    return State::pending;
  }
  const std::uint32_t base = state & JOB_STATE_BASE;
  if (base == JOB_PENDING) return State::pending;
  if (base == JOB_SUSPENDED || (state & JOB_STOPPED) != 0) return State::suspended;
  if (base != JOB_RUNNING) return State::ended;
  return (state & (JOB_CONFIGURING | JOB_POWER_UP_NODE)) != 0 ? State::configuring : State::running;
}

int count(std::uint32_t told) { return static_cast<int>(std::min(told, 1'000'000U)); }

/// "gres/gpu=4" in `tres` is told where the site accounts GPUs; else what was asked for says it, by
/// whatever it was asked.
void tell_asked(const slurm_job_info_t& info, Job& job) {
  job.nodes = count(info.num_nodes);
  const auto per_node = slurm::parse_gres(text(info.tres_per_node)).value_or(slurm::Gres{});
  job.gpus_per_node = per_node.gpus;
  const bool waits = job.state == State::pending || info.tres_alloc_str == nullptr;
  const auto tres = trace::parse_tres(text(waits ? info.tres_req_str : info.tres_alloc_str));
  if (tres) {
    job.gpus = tres->gpus;
    job.gpu_type = tres->gpu_type;
    if (std::isfinite(tres->cpus)) job.cpus = double{tres->cpus};
    if (std::isfinite(tres->memory_gb)) job.memory_gb = double{tres->memory_gb};
    if (tres->nodes > 0) job.nodes = tres->nodes;
  }
  const int nodes = std::max(1, job.nodes);
  const int sockets =
      info.sockets_per_node == NO_VAL16 ? 1 : std::max<int>(1, info.sockets_per_node);
  struct Asked {
    const char* what;
    int times;
  };
  const std::array<Asked, 4> ways{{{info.tres_per_job, 1},
                                   {info.tres_per_node, nodes},
                                   {info.tres_per_task, std::max(1, count(info.num_tasks))},
                                   {info.tres_per_socket, nodes * sockets}}};
  for (const Asked& way : ways) {
    const auto gres = slurm::parse_gres(text(way.what));
    if (!gres) continue;
    if (job.gpus == 0) job.gpus = slurm::times(gres->gpus, way.times);
    if (job.shards == 0) job.shards = slurm::times(gres->shards, way.times);
    if (job.mps == 0) job.mps = slurm::times(gres->mps, way.times);
    if (job.gpu_type.empty()) job.gpu_type = gres->gpu_type;
  }
}

void tell_holds(const slurm_job_info_t& info, Job& job) {
  const auto names = text::expand_hosts(text(info.nodes));
  if (!names) return;
  for (std::size_t at = 0; at < names->size(); ++at) {
    Held held{.node = (*names)[at]};
    if (at < info.gres_detail_cnt) {
      if (const auto gres = slurm::parse_gres(text(info.gres_detail_str[at]))) {
        held.gpus = gres->index;
        held.gpu_count = gres->gpus;
        held.shards = gres->shards;
        held.mps = gres->mps;
      }
    }
    if (info.job_resrcs != nullptr) {
      held.cpus =
          std::max(0, slurm_job_cpus_allocated_on_node_id(info.job_resrcs, static_cast<int>(at)));
    }
    const auto memory = static_cast<double>(info.pn_min_memory & ~MEM_PER_CPU) / slurm::kMibPerGb;
    if (info.pn_min_memory != NO_VAL64) {
      held.memory_gb = (info.pn_min_memory & MEM_PER_CPU) != 0 ? memory * held.cpus : memory;
    }
    job.holds.push_back(std::move(held));
  }
}

/// Where a batch job writes; what it did not say is Slurm's own choice in its folder.
void tell_files(const slurm_job_info_t& info, Job& job) {
  // Slurm's own functions take the job for writing, and only read it.
  auto* const its = const_cast<slurm_job_info_t*>(&info);
  std::array<char, PATH_MAX> path{};
  if (!text(info.std_out).empty()) {
    slurm_get_job_stdout(path.data(), static_cast<int>(path.size()), its);
    job.out = path.data();
  } else if (!text(info.work_dir).empty()) {
    job.out = text(info.work_dir) + (job.task ? "/slurm-%A_%a.out" : "/slurm-%j.out");
  }
  if (text(info.std_err).empty()) return;
  slurm_get_job_stderr(path.data(), static_cast<int>(path.size()), its);
  job.err = path.data();
}

}  // namespace

trace::JobState outcome_of(std::uint32_t state) {
  return trace::parse_state(slurm_job_state_string(state & JOB_STATE_BASE))
      .value_or(trace::JobState::unknown);
}

void tell_array(std::uint32_t array, std::uint32_t task, const char* tasks, Job& job) {
  if (array == 0 || array == NO_VAL) return;
  job.array = JobNumber{array};
  if (task != NO_VAL) {
    job.task = static_cast<std::int32_t>(task);
  } else {
    job.tasks = text(tasks);
  }
}

Time moment(time_t seconds) { return seconds <= 0 ? kNoTime : Time(std::chrono::seconds(seconds)); }

Duration limit(std::uint32_t minutes) {
  return minutes == INFINITE || minutes == NO_VAL ? kNoDuration : std::chrono::minutes(minutes);
}

std::string name_of(std::uint32_t uid) {
  static std::mutex one_at_a_time;
  static std::map<std::uint32_t, std::string> names;
  const std::lock_guard lock(one_at_a_time);
  if (const auto known = names.find(uid); known != names.end()) return known->second;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> room{};
  const int error = ::getpwuid_r(uid, &entry, room.data(), room.size(), &found);
  std::string name = found != nullptr ? found->pw_name : std::to_string(uid);
  // A directory that does not answer now may know the user later.
  if (error == 0) names.emplace(uid, name);
  return name;
}

Job tell(const slurm_job_info_t& info) {
  Job job;
  job.number = JobNumber{info.job_id};
  tell_array(info.array_job_id, info.array_task_id, info.array_task_str, job);
  job.het = JobNumber{info.het_job_id == NO_VAL ? 0 : info.het_job_id};
  job.name = text(info.name);
  job.uid = info.user_id;
  job.gid = info.group_id;
  job.user =
      info.user_name != nullptr && *info.user_name != '\0' ? info.user_name : name_of(info.user_id);
  job.account = text(info.account);
  job.partition = text(info.partition);
  job.qos = text(info.qos);
  job.reservation = text(info.resv_name);
  job.licences = text(info.licenses);
  job.dependency = text(info.dependency);
  job.comment = text(info.admin_comment);
  if (info.batch_flag != 0) tell_files(info, job);
  job.state = state_of(info.job_state);
  if (job.state == State::ended) job.outcome = outcome_of(info.job_state);
  job.reason = slurm_job_reason_string(static_cast<job_state_reason>(info.state_reason));
  job.priority = info.priority;
  job.held = job.state == State::pending && info.priority == 0;
  job.requeueable = info.requeue != 0;
  job.restarts = info.restart_cnt;
  if (info.site_factor != NO_VAL) {
    job.site_factor = std::int64_t{info.site_factor} - std::int64_t{NICE_OFFSET};
  }
  job.submit = Time(std::chrono::seconds(info.submit_time));
  job.eligible = moment(info.eligible_time);
  job.start = moment(info.start_time);
  job.end = moment(info.end_time);
  job.limit = limit(info.time_limit);
  job.features = text(info.features);
  job.required_nodes = text(info.req_nodes);
  job.excluded_nodes = text(info.exc_nodes);
  job.exclusive = info.shared == JOB_SHARED_NONE;
  tell_asked(info, job);
  if (job.state != State::pending && job.state != State::ended) tell_holds(info, job);
  return job;
}

}  // namespace almanac::gateway
