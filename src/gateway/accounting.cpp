// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/accounting.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "gateway/owned.h"
#include "gateway/refusal.h"
#include "gateway/tell_job.h"
#include "slurm/ended.h"
#include "slurm/gres.h"
#include "trace/tres.h"

namespace almanac::gateway {
namespace {

using manager::Job;
using manager::JobNumber;
using Rows = std::unique_ptr<xlist, Free<slurm_list_destroy>>;

/// Asked for at once; a busy cluster ends some 10,000 jobs in it.
constexpr Duration kSlice = 24h;
/// Told at once.
constexpr std::size_t kRows = 1000;

class Database {
 public:
  Database() {
    std::uint16_t flags = 0;
    connection_ = slurmdb_connection_get(&flags);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() {
    if (connection_ != nullptr) slurmdb_connection_close(&connection_);
  }
  /// Rows speak of resources and of QOS by number.
  Result<void> learn_names() {
    slurmdb_tres_cond_t any_tres{};
    any_tres.count = NO_VAL64;
    const Rows resources(slurmdb_tres_get(connection_, &any_tres));
    if (!resources) return refusal("get the resources of accounting");
    each<slurmdb_tres_rec_t>(resources.get(), [&](const slurmdb_tres_rec_t& tres) {
      const std::string name = text(tres.name);
      resources_[tres.id] = text(tres.type) + (name.empty() ? "" : "/" + name);
    });
    slurmdb_qos_cond_t any_qos{};
    any_qos.with_deleted = 1;
    const Rows qos(slurmdb_qos_get(connection_, &any_qos));
    if (!qos) return refusal("get the QOS of accounting");
    each<slurmdb_qos_rec_t>(qos.get(),
                            [&](const slurmdb_qos_rec_t& row) { qos_[row.id] = text(row.name); });
    return {};
  }
  /// Returns the jobs that ended in [from, until), in order.
  Result<std::vector<Job>> ended(Time from, Time until) const {
    const auto in_seconds = [](Time time) {
      return static_cast<time_t>(
          std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count());
    };
    slurmdb_job_cond_t wanted{};
    wanted.flags = JOBCOND_FLAG_DUP | JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_NO_TRUNC;
    wanted.db_flags = SLURMDB_JOB_FLAG_NOTSET;
    wanted.usage_start = in_seconds(from);
    wanted.usage_end = in_seconds(until) + 1;
    const Rows rows(slurmdb_jobs_get(connection_, &wanted));
    if (!rows) return refusal("get jobs from accounting");
    std::vector<Job> jobs;
    each<slurmdb_job_rec_t>(rows.get(), [&](const slurmdb_job_rec_t& row) {
      if (row.end != 0) jobs.push_back(tell(row));
    });
    slurm::keep_ended(jobs, from, until);
    return jobs;
  }

 private:
  Job tell(const slurmdb_job_rec_t& row) const {
    Job job;
    job.number = JobNumber{row.jobid};
    tell_array(row.array_job_id, row.array_task_id, row.array_task_str, job);
    job.het = JobNumber{row.het_job_id == NO_VAL ? 0 : row.het_job_id};
    job.name = text(row.jobname);
    job.uid = row.uid;
    job.user = row.user != nullptr ? row.user : name_of(row.uid);
    job.account = text(row.account);
    job.partition = text(row.partition);
    if (const auto qos = qos_.find(row.qosid); qos != qos_.end()) job.qos = qos->second;
    job.reservation = text(row.resv_name);
    job.comment = text(row.admin_comment);
    job.state = manager::State::ended;
    // A run that was followed by another.
    job.outcome =
        (row.state & JOB_REQUEUE) != 0 ? trace::JobState::preempted : outcome_of(row.state);
    job.priority = row.priority;
    job.submit = Time(std::chrono::seconds(row.submit));
    job.eligible = moment(row.eligible);
    job.start = moment(row.start);
    job.end = moment(row.end);
    job.ran = std::chrono::seconds(row.elapsed);
    job.limit = gateway::limit(row.timelimit);
    job.features = text(row.constraints);
    const std::string given = text(row.tres_alloc_str);
    const std::string asked = text(row.tres_req_str);
    tell_resources(given.empty() ? asked : given, job);
    // The log has the requested GPU type; the type that the job got follows from its nodes.
    job.gpu_type = resources_in(asked).gpu_type;
    return job;
  }

  void tell_resources(std::string_view told, Job& job) const {
    const trace::Tres tres = resources_in(told, &job);
    job.gpus = tres.gpus;
    job.nodes = tres.nodes;
    if (std::isfinite(tres.cpus)) job.cpus = double{tres.cpus};
    if (std::isfinite(tres.memory_gb)) job.memory_gb = double{tres.memory_gb};
  }

  /// "1=8,2=102400,4=1,1001=4": which resource, how much.
  trace::Tres resources_in(std::string_view told, Job* parts = nullptr) const {
    trace::Tres tres;
    while (!told.empty()) {
      const std::string_view item = told.substr(0, told.find(','));
      told.remove_prefix(std::min(item.size() + 1, told.size()));
      std::uint32_t id = 0;
      double count = 0;
      const char* const end = item.data() + item.size();
      const auto [equals, wrong] = std::from_chars(item.data(), end, id);
      if (wrong != std::errc{} || equals == end ||
          std::from_chars(equals + 1, end, count).ec != std::errc{}) {
        continue;
      }
      const auto name = resources_.find(id);
      if (name == resources_.end()) continue;
      tres.add(name->second, count);
      if (parts == nullptr) continue;
      const int counted = static_cast<int>(std::min(count, 1e6));
      if (name->second == "gres/shard") parts->shards = counted;
      if (name->second == "gres/mps") parts->mps = counted;
    }
    return tres;
  }

  void* connection_ = nullptr;
  std::map<std::uint32_t, std::string> resources_;
  std::map<std::uint32_t, std::string> qos_;
};

/// Without a database Slurm has a list of jobs too: an empty one.
Result<void> has_accounts() {
  slurm_conf_t* raw = nullptr;
  if (slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS) return refusal("get the configuration");
  const Configuration site(raw);
  const std::string type = text(site->accounting_storage_type);
  if (!type.empty() && !type.ends_with("/none")) return {};
  return fail(
      Code::unsupported, "this site has no accounting", {},
      "set AccountingStorageType in slurm.conf; without it there is no history to learn from");
}

}  // namespace

Result<void> ended(Time from, Time until, const TakeJobs& take) {
  if (auto kept = has_accounts(); !kept) return kept;
  Database database;
  if (auto learnt = database.learn_names(); !learnt) return learnt;
  for (Time at = from; at < until; at += kSlice) {
    auto jobs = database.ended(at, std::min(until, at + kSlice));
    if (!jobs) return tl::unexpected(jobs.error());
    for (std::size_t told = 0; told == 0 || told < jobs->size(); told += kRows) {
      const auto begin = jobs->begin() + static_cast<std::ptrdiff_t>(told);
      const auto end =
          jobs->begin() + static_cast<std::ptrdiff_t>(std::min(told + kRows, jobs->size()));
      if (!take({std::make_move_iterator(begin), std::make_move_iterator(end)})) return {};
    }
  }
  return {};
}

}  // namespace almanac::gateway
