// SPDX-License-Identifier: GPL-3.0-or-later
#include "slurm_replay/controller.h"

#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "text/number.h"

namespace almanac::replay {
namespace {

constexpr std::string_view kMark = "replay ";
constexpr int kGpusPerNode = 8;

tl::unexpected<Error> refusal(std::string_view what) {
  const int number = slurm_get_errno();
  // Of the system (a socket), the transport or the credentials: it may have been done or not.
  const bool of_the_way =
      number < SLURM_NO_CHANGE_IN_DATA ||
      (number >= SLURM_PROTOCOL_SOCKET_IMPL_ZERO_RECV_LENGTH && number < ESLURM_DB_CONNECTION);
  return fail(of_the_way ? Code::unavailable : Code::invalid,
              fmt::format("cannot {}: {}", what, slurm_strerror(number)));
}

Stage stage_of(std::uint32_t state) {
  if ((state & JOB_COMPLETING) != 0) return Stage::ends;
  if ((state & JOB_CONFIGURING) != 0) return Stage::boots;
  const std::uint32_t base = state & JOB_STATE_BASE;
  if (base == JOB_PENDING) return Stage::waits;
  return base == JOB_RUNNING || base == JOB_SUSPENDED ? Stage::runs : Stage::ended;
}

std::optional<std::size_t> mark_of(const slurm_job_info_t& job) {
  const std::string_view comment = job.comment == nullptr ? "" : job.comment;
  if (!comment.starts_with(kMark)) return std::nullopt;
  const auto mark = text::parse_whole(comment.substr(kMark.size()));
  return mark ? std::optional(static_cast<std::size_t>(*mark)) : std::nullopt;
}

}  // namespace

Controller::Controller() { slurm_init(nullptr); }
Controller::~Controller() { slurm_fini(); }

Result<std::uint32_t> Controller::submit(const Asked& asked) {
  const int nodes = (asked.gpus + kGpusPerNode - 1) / kGpusPerNode;
  const bool is_even = asked.gpus % nodes == 0;
  std::string gpus = fmt::format("gres:gpu:{}", is_even ? asked.gpus / nodes : asked.gpus);
  std::string comment = fmt::format("{}{}", kMark, asked.mark);
  std::string name = asked.name;
  std::string partition = asked.partition;
  std::string account = asked.account;
  std::string qos = asked.qos;
  std::string folder = "/";
  std::string line = "salloc";  // as which Slurm treats it
  job_desc_msg_t job;
  slurm_init_job_desc_msg(&job);
  job.user_id = asked.uid;
  job.group_id = asked.uid;
  job.name = name.data();
  job.comment = comment.data();
  job.partition = partition.data();
  if (!account.empty()) job.account = account.data();
  if (!qos.empty()) job.qos = qos.data();
  job.work_dir = folder.data();
  job.submit_line = line.data();
  job.time_limit = static_cast<std::uint32_t>(asked.limit_min);
  job.min_nodes = job.max_nodes = static_cast<std::uint32_t>(nodes);
  job.num_tasks = job.min_cpus = static_cast<std::uint32_t>(nodes);
  job.cpus_per_task = 1;
  job.ntasks_per_node = 1;
  (is_even ? job.tres_per_node : job.tres_per_job) = gpus.data();
  resource_allocation_response_msg_t* answer = nullptr;
  if (slurm_allocate_resources(&job, &answer) != SLURM_SUCCESS) return refusal("submit a job");
  const std::uint32_t number = answer->job_id;
  slurm_free_resource_allocation_response_msg(answer);
  return number;
}

Result<std::optional<std::vector<Seen>>> Controller::look() {
  job_info_msg_t* answer = nullptr;
  if (slurm_load_jobs(as_of_, &answer, SHOW_ALL) != SLURM_SUCCESS) {
    if (slurm_get_errno() == SLURM_NO_CHANGE_IN_DATA) return std::nullopt;
    as_of_ = 0;
    return refusal("list the jobs");
  }
  const std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)> owned(
      answer, slurm_free_job_info_msg);
  as_of_ = answer->last_update;
  std::vector<Seen> made;
  for (std::uint32_t at = 0; at < answer->record_count; ++at) {
    const slurm_job_info_t& job = answer->job_array[at];
    const auto mark = mark_of(job);
    if (!mark) continue;
    made.push_back({.number = job.job_id,
                    .mark = *mark,
                    .stage = stage_of(job.job_state),
                    .held = job.priority == 0,
                    .restarts = job.restart_cnt});
  }
  return made;
}

Result<bool> Controller::end(std::uint32_t number) {
  if (slurm_complete_job(number, 0) == SLURM_SUCCESS) return false;
  if (slurm_get_errno() == ESLURM_ALREADY_DONE) return true;
  return refusal("end a job");
}

}  // namespace almanac::replay
