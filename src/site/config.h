// SPDX-License-Identifier: Apache-2.0

/// \file
/// The settings of a Slurm controller: what slurm.conf and `scontrol show config` say, with Slurm's
/// defaults for what they do not say.
///
/// Source   slurm.conf(5) of Slurm 20.11 to 25.11.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "site/tres.h"
#include "text/duration.h"

namespace almanac::site {

enum class PriorityType : std::uint8_t { basic, multifactor };

/// When all usage is set to 0 (PriorityUsageResetPeriod).
enum class UsageReset : std::uint8_t { none, now, daily, weekly, monthly, quarterly, yearly };

/// PriorityType, PriorityWeight*, PriorityFlags and the decay of usage.
struct PrioritySettings {
  PriorityType type = PriorityType::basic;
  std::uint32_t weight_age = 0;
  std::uint32_t weight_assoc = 0;
  std::uint32_t weight_fair_share = 0;
  std::uint32_t weight_job_size = 0;
  std::uint32_t weight_partition = 0;
  std::uint32_t weight_qos = 0;
  TresWeights weight_tres{};
  Duration max_age = std::chrono::days(7);
  Duration decay_half_life = std::chrono::days(7);  ///< 0 = usage does not decay. Whole minutes.
  Duration calc_period = 5min;                      ///< At least 1 minute.
  UsageReset usage_reset = UsageReset::none;
  std::uint32_t dampening = 1;  ///< FairShareDampeningFactor; at least 1.
  bool favor_small = false;
  std::string site_factor_plugin{};  ///< "" for none.

  // PriorityFlags. NO_NORMAL_ALL sets the four no_normal_*.
  bool accrue_always = false;
  bool calculate_running = false;
  bool depth_oblivious = false;
  bool no_fair_tree = false;
  bool increase_only = false;
  bool max_tres = false;
  bool max_tres_gres = false;
  bool no_normal_assoc = false;
  bool no_normal_partition = false;
  bool no_normal_qos = false;
  bool no_normal_tres = false;
  bool small_relative_to_time = false;

  /// Whether fair share is by the fair tree, not by the classic formula.
  bool is_fair_tree() const { return !no_fair_tree && !depth_oblivious; }

  bool operator==(const PrioritySettings&) const = default;
};

enum class SchedulerType : std::uint8_t { backfill, builtin };

/// SchedulerType and SchedulerParameters. Counts are 0 for "no limit" where Slurm's are.
struct SchedulerSettings {
  using Microseconds = std::chrono::microseconds;

  SchedulerType type = SchedulerType::backfill;

  // The main scheduler.
  Duration sched_interval = 60s;
  Duration batch_sched_delay = 3s;
  Microseconds sched_min_interval{2};
  Duration max_sched_time = 2s;  ///< At most half of MessageTimeout.
  int default_queue_depth = 100;
  int partition_job_depth = 0;
  int sched_max_job_start = 0;
  int max_rpc_cnt = 0;
  int max_depend_depth = 10;
  Duration build_queue_timeout = 2s;
  Duration max_switch_wait = 300s;
  bool defer = false;
  bool defer_batch = false;
  bool assoc_limit_stop = false;
  bool kill_invalid_depend = false;
  bool pack_serial_at_end = false;
  bool reduce_completing_frag = false;
  bool time_min_as_soft_limit = false;
  bool whole_hetjob = false;
  bool enable_job_state_cache = false;

  // Backfill.
  Duration bf_interval = 30s;  ///< kNoDuration: off ("bf_interval=-1").
  Duration bf_max_time = 30s;  ///< bf_interval unless set.
  Duration bf_window = 24h;
  Duration bf_resolution = 60s;
  int bf_max_job_test = 500;
  int bf_max_job_start = 0;
  int bf_max_job_part = 0;
  int bf_max_job_user = 0;
  int bf_max_job_user_part = 0;
  int bf_max_job_assoc = 0;
  int bf_max_job_array_resv = 20;
  int bf_job_part_count_reserve = 0;
  int bf_node_space_size = 500;  ///< bf_max_job_test unless set.
  Duration bf_min_age_reserve{0};
  std::uint32_t bf_min_prio_reserve = 0;
  Duration bf_window_linear{0};
  Microseconds bf_yield_interval{2'000'000};
  Microseconds bf_yield_sleep{500'000};
  int bf_yield_rpc_cnt = 0;
  bool bf_continue = false;
  bool bf_one_resv_per_job = false;
  bool bf_running_job_reserve = false;
  bool bf_licenses = false;
  bool bf_busy_nodes = false;
  bool bf_allow_magnetic_slot = false;
  bool bf_topopt_enable = false;
  bool bf_hetjob_immediate = false;
  std::string bf_hetjob_prio{};  ///< "", "min", "avg" or "max".

  bool operator==(const SchedulerSettings&) const = default;
};

enum class SelectType : std::uint8_t { cons_tres, cons_res, linear };

/// What a job takes of a node (CR_* of SelectTypeParameters).
enum class Consumable : std::uint8_t { none, cpu, core, socket };

struct SelectSettings {
  SelectType type = SelectType::cons_tres;
  Consumable consumable = Consumable::core;
  bool memory = true;  ///< CR_*_Memory: memory is counted.
  bool one_task_per_core = false;
  bool pack_nodes = false;
  bool least_loaded = false;  ///< CR_LLN.
  bool default_dist_block = false;
  bool ll_shared_gres = false;
  bool multiple_sharing_gres_per_job = false;
  bool enforce_binding_gres = false;
  bool one_task_per_sharing_gres = false;

  bool operator==(const SelectSettings&) const = default;
};

enum class TopologyType : std::uint8_t { flat, tree, block, torus3d, other };

struct TopologySettings {
  TopologyType type = TopologyType::flat;
  bool optional = false;  ///< TopoOptional: only jobs with --switches are placed by it.
  bool switch_as_node_rank = false;
  bool dragonfly = false;
  int max_size_unroll = -1;  ///< TopoMaxSizeUnroll.

  bool operator==(const TopologySettings&) const = default;
};

enum class PreemptType : std::uint8_t { none, qos, partition_priority };

/// What happens to a preempted job. `cluster`: as the cluster's PreemptMode says.
enum class PreemptMode : std::uint8_t { cluster, off, cancel, requeue, suspend };

struct PreemptSettings {
  PreemptType type = PreemptType::none;
  PreemptMode mode = PreemptMode::off;
  bool gang = false;
  bool within = false;
  bool by_priority = false;  ///< PRIORITY, from 25.05 on.
  Duration exempt_time{0};
  bool youngest_first = false;
  bool strict_order = false;
  int reorder_count = 1;
  bool reclaim_licenses = false;
  std::uint32_t min_exempt_priority = 0;  ///< 0 for none.
  Duration suspend_grace_time{0};

  bool is_on() const { return type != PreemptType::none && mode != PreemptMode::off; }

  bool operator==(const PreemptSettings&) const = default;
};

/// AccountingStorageEnforce. `limits` implies `associations`, `safe` implies `limits`.
struct Enforced {
  bool associations = false;
  bool limits = false;
  bool qos = false;
  bool safe = false;
  bool no_jobs = false;
  bool no_steps = false;
  bool wckeys = false;

  bool operator==(const Enforced&) const = default;
};

enum class EnforcePartLimits : std::uint8_t { no, any, all };

/// Default memory and CPUs of jobs. Memory is in MiB; 0 for "not set": all memory of a
/// node for a default, no limit for a maximum.
struct JobDefaults {
  std::int64_t memory_per_cpu_mb = 0;
  std::int64_t memory_per_node_mb = 0;
  std::int64_t memory_per_gpu_mb = 0;
  std::int64_t max_memory_per_cpu_mb = 0;
  std::int64_t max_memory_per_node_mb = 0;
  int cpus_per_gpu = 0;

  bool operator==(const JobDefaults&) const = default;
};

struct Config {
  std::string cluster{};  ///< ClusterName.
  std::string version{};  ///< "22.05.8"; "" if unknown.
  int release = 0;        ///< 2205 of version "22.05.8"; 0 if unknown.
  PrioritySettings priority{};
  SchedulerSettings scheduler{};
  SelectSettings select{};
  TopologySettings topology{};
  PreemptSettings preempt{};
  Enforced enforced{};
  EnforcePartLimits part_limits = EnforcePartLimits::no;
  JobDefaults job_defaults{};
  int max_job_count = 10'000;
  int max_array_size = 1001;
  bool requeue = true;  ///< JobRequeue.
  Duration kill_wait = 30s;
  Duration over_time_limit{0};  ///< text::kUnlimited: jobs are never killed for their time limit.
  Duration complete_wait{0};
  Duration message_timeout = 10s;
  Duration min_job_age = 300s;
  Duration cred_expire = 120s;  ///< Of AuthInfo: a requeued job is eligible 1 s later than this.
  Duration resv_over_run{0};    ///< text::kUnlimited for no end.
  Duration sched_time_slice = 30s;
  /// How long an idle node stays on; kNoDuration: nodes are never powered down.
  Duration suspend_time = kNoDuration;
  Duration suspend_timeout = 30s;
  Duration resume_timeout = 60s;
  /// All that was read, by the key in lower case.
  std::map<std::string, std::string> all{};

  bool operator==(const Config&) const = default;
};

}  // namespace almanac::site
