// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/slurm_words.h"
#include "site/read_config.h"
#include "text/number.h"

namespace almanac::site {
namespace {

using S = SchedulerSettings;

constexpr const char* kKey = "SchedulerParameters";

/// The words that a schedule does not depend on.
constexpr std::array kNoMatter{"bf_licenses_strict",
                               "correspond_after_task_cnt",
                               "delay_boot",
                               "disable_hetjob_steps",
                               "disable_job_shrink",
                               "enable_hetjob_steps",
                               "enable_user_top",
                               "extra_constraints",
                               "ignore_constraint_validation",
                               "ignore_numa",
                               "ignore_prefer_validation",
                               "max_script_size",
                               "max_submit_line_size",
                               "nohold_on_prolog_fail",
                               "no_backup_scheduling",
                               "no_env_cache",
                               "permit_job_expansion",
                               "requeue_delay",
                               "requeue_setup_env_fail",
                               "salloc_wait_nodes",
                               "sbatch_wait_nodes",
                               "sched_max_job_start_interval",
                               "spec_cores_first",
                               "step_retry_count",
                               "step_retry_time",
                               "validate_mode",
                               "bf_max_sched_time"};

template <typename T>
using Fields = std::map<std::string_view, T S::*>;

const Fields<int> kCounts{{"default_queue_depth", &S::default_queue_depth},
                          {"partition_job_depth", &S::partition_job_depth},
                          {"sched_max_job_start", &S::sched_max_job_start},
                          {"max_rpc_cnt", &S::max_rpc_cnt},
                          {"max_depend_depth", &S::max_depend_depth},
                          {"bf_max_job_test", &S::bf_max_job_test},
                          {"bf_max_job_start", &S::bf_max_job_start},
                          {"bf_max_job_part", &S::bf_max_job_part},
                          {"bf_max_job_user", &S::bf_max_job_user},
                          {"bf_max_job_user_part", &S::bf_max_job_user_part},
                          {"bf_max_job_assoc", &S::bf_max_job_assoc},
                          {"bf_max_job_array_resv", &S::bf_max_job_array_resv},
                          {"bf_job_part_count_reserve", &S::bf_job_part_count_reserve},
                          {"bf_node_space_size", &S::bf_node_space_size},
                          {"bf_yield_rpc_cnt", &S::bf_yield_rpc_cnt}};

const Fields<Duration> kSeconds{{"sched_interval", &S::sched_interval},
                                {"batch_sched_delay", &S::batch_sched_delay},
                                {"max_sched_time", &S::max_sched_time},
                                {"build_queue_timeout", &S::build_queue_timeout},
                                {"max_switch_wait", &S::max_switch_wait},
                                {"bf_interval", &S::bf_interval},
                                {"bf_max_time", &S::bf_max_time},
                                {"bf_resolution", &S::bf_resolution},
                                {"bf_min_age_reserve", &S::bf_min_age_reserve},
                                {"bf_window_linear", &S::bf_window_linear}};

const Fields<S::Microseconds> kMicroseconds{{"sched_min_interval", &S::sched_min_interval},
                                            {"bf_yield_interval", &S::bf_yield_interval},
                                            {"bf_yield_sleep", &S::bf_yield_sleep}};

const Fields<bool> kFlags{{"defer", &S::defer},
                          {"defer_batch", &S::defer_batch},
                          {"assoc_limit_stop", &S::assoc_limit_stop},
                          {"kill_invalid_depend", &S::kill_invalid_depend},
                          {"pack_serial_at_end", &S::pack_serial_at_end},
                          {"reduce_completing_frag", &S::reduce_completing_frag},
                          {"time_min_as_soft_limit", &S::time_min_as_soft_limit},
                          {"whole_hetjob", &S::whole_hetjob},
                          {"whole_pack", &S::whole_hetjob},
                          {"enable_job_state_cache", &S::enable_job_state_cache},
                          {"bf_continue", &S::bf_continue},
                          {"bf_one_resv_per_job", &S::bf_one_resv_per_job},
                          {"bf_running_job_reserve", &S::bf_running_job_reserve},
                          {"bf_licenses", &S::bf_licenses},
                          {"bf_busy_nodes", &S::bf_busy_nodes},
                          {"bf_allow_magnetic_slot", &S::bf_allow_magnetic_slot},
                          {"bf_topopt_enable", &S::bf_topopt_enable},
                          {"bf_hetjob_immediate", &S::bf_hetjob_immediate}};

struct RangeRow {
  std::string_view word;
  ParameterRange range;
};

constexpr std::int64_t kMostJobs = 1'000'000;
constexpr RangeRow kRanges[] = {{"bf_interval", {1, 10'800}},
                                {"bf_window", {1, 43'200}},
                                {"bf_resolution", {1, 3600}},
                                {"bf_max_time", {1, 3600}},
                                {"bf_max_job_test", {1, kMostJobs}},
                                {"bf_max_job_user", {0, kMostJobs}},
                                {"bf_max_job_part", {0, kMostJobs}},
                                {"bf_max_job_assoc", {0, kMostJobs}},
                                {"bf_max_job_user_part", {0, kMostJobs}},
                                {"bf_max_job_start", {0, 10'000}},
                                {"bf_max_job_array_resv", {0, 1000}},
                                {"bf_node_space_size", {2, 2'000'000}},
                                {"bf_min_age_reserve", {0, 2'592'000}},
                                {"bf_job_part_count_reserve", {0, 100'000}},
                                {"bf_yield_interval", {1, 10'000'000}},
                                {"bf_yield_sleep", {1, 10'000'000}}};

class Parameters {
 public:
  Parameters(const Record& settings, S& made, std::vector<std::string>& unknown)
      : settings_(settings), made_(made), unknown_(unknown) {}

  void read() {
    for (const std::string& item : list(settings_, kKey)) {
      const auto equals = item.find('=');
      const std::string name =
          cluster::in_lower_case(cluster::without_blanks(item.substr(0, equals)));
      read_item(name, equals == std::string::npos ? "" : item.substr(equals + 1));
    }
    if (!told_max_time_ && made_.bf_interval != kNoDuration) made_.bf_max_time = made_.bf_interval;
    if (!told_space_) made_.bf_node_space_size = made_.bf_max_job_test;
    // bf_licenses counts what running jobs hold.
    made_.bf_running_job_reserve = made_.bf_running_job_reserve || made_.bf_licenses;
  }

 private:
  std::int64_t number(const std::string& name, const std::string& value) const {
    const auto told = text::parse_whole(value);
    if (!told || *told < -1 || *told > 2'000'000'000) {
      refuse(settings_, kKey, fmt::format("{}=NUMBER for {}", name, name));
    }
    return *told;
  }

  /// Whether Slurm takes the number. -1 switches intervals off.
  bool takes(const std::string& name, std::int64_t told) const {
    return range_of(name).has(told) ||
           (told == -1 && (name == "bf_interval" || name == "sched_interval"));
  }

  void read_item(const std::string& name, const std::string& value) {
    const bool is_number = kCounts.contains(name) || kSeconds.contains(name) ||
                           kMicroseconds.contains(name) || name == "bf_window" ||
                           name == "bf_min_prio_reserve";
    if (is_number && !takes(name, number(name, value))) {
      const auto [least, most] = range_of(name);
      unknown_.push_back(fmt::format(
          "{}SchedulerParameters: {} is not from {} to {}, so the default counts, as in "
          "Slurm",
          place_of(settings_, kKey), item_of(name, value), least, most));
      return;
    }
    if (const auto count = kCounts.find(name); count != kCounts.end()) {
      made_.*count->second = static_cast<int>(number(name, value));
      told_space_ = told_space_ || name == "bf_node_space_size";
    } else if (const auto time = kSeconds.find(name); time != kSeconds.end()) {
      const std::int64_t told = number(name, value);
      made_.*time->second = told < 0 ? kNoDuration : Duration(std::chrono::seconds(told));
      told_max_time_ = told_max_time_ || name == "bf_max_time";
    } else if (const auto fine = kMicroseconds.find(name); fine != kMicroseconds.end()) {
      made_.*fine->second = S::Microseconds(number(name, value));
    } else if (const auto flag = kFlags.find(name); flag != kFlags.end()) {
      made_.*flag->second = true;
    } else if (name == "bf_window") {
      made_.bf_window = std::chrono::minutes(number(name, value));
    } else if (name == "bf_min_prio_reserve") {
      made_.bf_min_prio_reserve = static_cast<std::uint32_t>(number(name, value));
    } else if (name == "bf_hetjob_prio") {
      made_.bf_hetjob_prio = cluster::in_lower_case(value);
    } else if (!name.starts_with("preempt_") &&
               std::find(kNoMatter.begin(), kNoMatter.end(), name) == kNoMatter.end()) {
      unknown_.push_back(fmt::format("{}SchedulerParameters: {} is not modelled",
                                     place_of(settings_, kKey), item_of(name, value)));
    }
  }

  static std::string item_of(const std::string& name, const std::string& value) {
    return value.empty() ? name : name + "=" + value;
  }

  const Record& settings_;
  S& made_;
  std::vector<std::string>& unknown_;
  bool told_max_time_ = false;
  bool told_space_ = false;
};

}  // namespace

ParameterRange range_of(std::string_view word) {
  const auto known = std::find_if(std::begin(kRanges), std::end(kRanges),
                                  [&](const RangeRow& each) { return each.word == word; });
  return known != std::end(kRanges) ? known->range : ParameterRange{0, 2'000'000'000};
}

void read_scheduler_parameters(const Record& settings, SchedulerSettings& made,
                               std::vector<std::string>& unknown) {
  Parameters(settings, made, unknown).read();
}

std::map<std::string, std::string> scheduler_parameters(const SchedulerSettings& settings) {
  std::map<std::string, std::string> made;
  const auto add = [&](std::string_view name, std::int64_t value) {
    made.emplace(name, fmt::format("{}", value));
  };
  for (const auto& [name, field] : kCounts) add(name, settings.*field);
  for (const auto& [name, field] : kSeconds) {
    const Duration value = settings.*field;
    add(name, value == kNoDuration ? -1 : std::chrono::floor<std::chrono::seconds>(value).count());
  }
  for (const auto& [name, field] : kMicroseconds) add(name, (settings.*field).count());
  for (const auto& [name, field] : kFlags) made.emplace(name, settings.*field ? "yes" : "no");
  add("bf_window", std::chrono::floor<std::chrono::minutes>(settings.bf_window).count());
  add("bf_min_prio_reserve", settings.bf_min_prio_reserve);
  return made;
}

}  // namespace almanac::site
