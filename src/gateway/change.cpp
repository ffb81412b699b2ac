// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/change.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>

#include <fmt/format.h>
#include <slurm/slurm_errno.h>

#include "gateway/owned.h"
#include "gateway/refusal.h"
#include "slurm/refusals.h"
#include "text/host_list.h"

namespace almanac::gateway {
namespace {

using manager::Fate;
using manager::JobChange;
using manager::JobNumber;

constexpr std::size_t kAtOnce = 4;

/// Far from the values that mean "unchanged" and "unlimited" to Slurm.
constexpr std::int64_t kMostFactor = 2'000'000'000;
constexpr std::uint32_t kMostPriority = 0xfffffff0;

std::uint32_t number_of(JobNumber job) { return static_cast<std::uint32_t>(job); }

Result<void> update(job_desc_msg_t& asked, const char* what) {
  if (slurm_update_job(&asked) == SLURM_SUCCESS) return {};
  return refusal(fmt::format("{} job {}", what, asked.job_id));
}

job_desc_msg_t nothing_of(JobNumber job) {
  job_desc_msg_t asked;
  slurm_init_job_desc_msg(&asked);
  asked.job_id = number_of(job);
  return asked;
}

Result<void> check(const JobChange& change) {
  if (change.site_factor &&
      (*change.site_factor < -kMostFactor || *change.site_factor > kMostFactor)) {
    return fail(Code::invalid,
                fmt::format("site factor {} is outside +-{}", *change.site_factor, kMostFactor));
  }
  constexpr int kMostShards = 1'000'000;
  if (change.shards && (*change.shards < 1 || *change.shards > kMostShards)) {
    return fail(Code::invalid,
                fmt::format("{} shards must be 1 to {}", *change.shards, kMostShards));
  }
  if (change.priority && *change.priority != JobChange::kUsual &&
      (*change.priority == 0 || *change.priority > kMostPriority)) {
    return fail(Code::invalid,
                fmt::format("priority {} must be 1 to {}", *change.priority, kMostPriority));
  }
  return {};
}

/// What a job asks of each node, with so many shards instead; spelled as Slurm spells it, which
/// takes other spellings and does nothing of them.
Result<std::string> with_shards(JobNumber job, int shards) {
  job_info_msg_t* raw = nullptr;
  if (slurm_load_job(&raw, number_of(job), SHOW_ALL) != SLURM_SUCCESS) {
    return refusal(fmt::format("get job {}", number_of(job)));
  }
  const Jobs told(raw);
  std::string asked;
  if (told->record_count > 0) asked = text(told->job_array[0].tres_per_node);
  const std::size_t name = asked.find("shard");
  if (name == std::string::npos || asked.find(',') != std::string::npos) {
    return fail(Code::unsupported, fmt::format("job {} requests \"{}\" of a node, not shards alone",
                                               number_of(job), asked));
  }
  const std::size_t end = asked.find_last_not_of("0123456789");
  const bool has_count = end > name && asked[end] == ':' && end + 1 < asked.size();
  return fmt::format("{}:{}", has_count ? asked.substr(0, end) : asked, shards);
}

Result<void> release(JobNumber job) {
  job_desc_msg_t asked = nothing_of(job);
  asked.priority = INFINITE;
  return update(asked, "release");
}

/// A job that is held takes no priority, and one that is released may start at once: so all else
/// comes before the release, and a priority after it.
Result<void> change_one(const JobChange& change) {
  if (const auto checked = check(change); !checked) return checked;
  const bool releases = change.held == false;
  job_desc_msg_t asked = nothing_of(change.job);
  bool any = false;
  if (change.site_factor) {
    asked.site_factor = static_cast<std::uint32_t>(std::int64_t{NICE_OFFSET} + *change.site_factor);
    any = true;
  }
  std::string nodes = change.required_nodes.value_or("");
  if (change.required_nodes) {
    asked.req_nodes = nodes.data();
    any = true;
  }
  std::string comment = change.comment.value_or("");
  if (change.comment) {
    asked.admin_comment = comment.data();
    any = true;
  }
  std::string gres;
  if (change.shards) {
    auto made = with_shards(change.job, *change.shards);
    if (!made) return tl::unexpected(made.error());
    gres = std::move(*made);
    asked.tres_per_node = gres.data();
    any = true;
  }
  if (change.begins) {
    // Slurm takes what is past for now, and 0 for unchanged.
    asked.begin_time = std::max<std::time_t>(
        1, std::chrono::floor<std::chrono::seconds>(change.begins->time_since_epoch()).count());
    any = true;
  }
  if (change.held == true) {
    asked.priority = 0;
    asked.alloc_sid = change.of_user ? ALLOC_SID_USER_HOLD : ALLOC_SID_ADMIN_HOLD;
    any = true;
  } else if (change.priority && !releases) {
    asked.priority = *change.priority == JobChange::kUsual ? INFINITE : *change.priority;
    any = true;
  }
  if (any) {
    if (auto done = update(asked, "change"); !done) return done;
  }
  if (!releases) return {};
  if (auto done = release(change.job); !done) return done;
  if (!change.priority || *change.priority == JobChange::kUsual) return {};
  job_desc_msg_t then = nothing_of(change.job);
  then.priority = *change.priority;
  return update(then, "change");
}

Result<void> check_running(std::uint32_t number) {
  job_info_msg_t* raw = nullptr;
  if (slurm_load_job(&raw, number, SHOW_ALL) != SLURM_SUCCESS) {
    return refusal(fmt::format("get job {}", number));
  }
  const Jobs told(raw);
  for (const slurm_job_info_t& info : std::span(told->job_array, told->record_count)) {
    const std::uint32_t base = info.job_state & JOB_STATE_BASE;
    if (base == JOB_RUNNING || base == JOB_SUSPENDED) return {};
  }
  return fail(Code::conflict, fmt::format("cannot requeue job {}: it is not running", number));
}

}  // namespace

std::vector<Result<void>> change(std::span<const JobChange> changes) {
  // What is left when the controller falls silent would wait as long, each.
  std::vector<Result<void>> done(
      changes.size(),
      fail(Code::unavailable, "not sent: the controller did not answer the previous request"));
  std::atomic<std::size_t> next{0};
  std::atomic<bool> is_silent{false};
  const auto work = [&] {
    for (std::size_t at = next++; at < changes.size() && !is_silent; at = next++) {
      done[at] = change_one(changes[at]);
      if (!done[at] && slurm::is_silence(done[at].error().message)) is_silent = true;
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t each = 1; each < std::min(kAtOnce, changes.size()); ++each) {
    others.emplace_back(work);
  }
  work();
  others.clear();
  return done;
}

Result<void> end(JobNumber job, Fate fate) {
  const std::uint32_t number = number_of(job);
  int status = SLURM_SUCCESS;
  const char* what = "";
  switch (fate) {
    case Fate::requeue:
      what = "requeue";
      // Slurm would run one that has ended once more; with the flag it does nothing of it, and says
      // that it is done.
      if (auto runs = check_running(number); !runs) return runs;
      status = slurm_requeue(number, JOB_RUNNING);
      break;
    case Fate::suspend:
      what = "suspend";
      status = slurm_suspend(number);
      break;
    case Fate::resume:
      what = "resume";
      status = slurm_resume(number);
      break;
    case Fate::cancel:
      what = "cancel";
      status = slurm_kill_job(number, SIGKILL, 0);
      break;
  }
  if (status == SLURM_SUCCESS) return {};
  return refusal(fmt::format("{} job {}", what, number));
}

Result<void> power(std::span<const std::string> nodes, bool on) {
  slurm_conf_t* raw = nullptr;
  if (slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS) return refusal("get the configuration");
  const Configuration site(raw);
  if (text(site->suspend_program).empty() || text(site->resume_program).empty()) {
    return fail(Code::unsupported, "this site has no programs that power nodes down and up", {},
                "set SuspendProgram and ResumeProgram in slurm.conf");
  }
  std::string names = text::join_hosts(nodes);
  update_node_msg_t asked;
  slurm_init_update_node_msg(&asked);
  asked.node_names = names.data();
  asked.node_state = on ? NODE_STATE_POWER_UP : NODE_STATE_POWER_DOWN;
  if (slurm_update_node(&asked) == SLURM_SUCCESS) return {};
  return refusal(fmt::format("power {} {}", on ? "up" : "down", names));
}

Result<void> weigh(std::span<const std::string> nodes, std::uint32_t weight) {
  std::string names = text::join_hosts(nodes);
  update_node_msg_t asked;
  slurm_init_update_node_msg(&asked);
  asked.node_names = names.data();
  asked.weight = weight;
  if (slurm_update_node(&asked) == SLURM_SUCCESS) return {};
  return refusal(fmt::format("weigh {}", names));
}

}  // namespace almanac::gateway
