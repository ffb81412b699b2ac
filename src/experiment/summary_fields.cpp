// SPDX-License-Identifier: Apache-2.0
#include "experiment/summary_fields.h"

#include <array>

namespace almanac::experiment {

std::span<const SummaryField> summary_fields() {
  using Where = SummaryField::Where;
  static constexpr auto kFields = std::to_array<SummaryField>({
      {"jobs", &Summary::jobs},
      {"finished", &Summary::finished},
      {"never_ended", &Summary::never_ended, Where::json},
      {"never_startable", &Summary::never_startable, Where::json},
      {"withdrawn_jobs", &Summary::withdrawn_jobs, Where::json},
      {"avg_jct_s", &Summary::avg_jct_s},
      {"p50_jct_s", &Summary::p50_jct_s},
      {"p90_jct_s", &Summary::p90_jct_s},
      {"p99_jct_s", &Summary::p99_jct_s},
      {"avg_wait_s", &Summary::avg_wait_s},
      {"p50_wait_s", &Summary::p50_wait_s},
      {"p90_wait_s", &Summary::p90_wait_s},
      {"p99_wait_s", &Summary::p99_wait_s},
      {"as_recorded", &Summary::as_recorded},
      {"queued_jobs", &Summary::queued_jobs},
      {"makespan_s", &Summary::makespan_s},
      {"gpu_occupancy", &Summary::gpu_occupancy},
      {"gpu_utilization", &Summary::gpu_utilization},
      {"gpu_allocation", &Summary::gpu_allocation},
      {"cpu_allocation", &Summary::cpu_allocation},
      {"avg_gpu_job_jct_s", &Summary::avg_gpu_job_jct_s},
      {"cpu_jobs", &Summary::cpu_jobs},
      {"avg_cpu_job_wait_s", &Summary::avg_cpu_job_wait_s},
      {"p99_cpu_job_wait_s", &Summary::p99_cpu_job_wait_s},
      {"avg_bounded_slowdown", &Summary::avg_bounded_slowdown},
      {"preemptions", &Summary::preemptions},
      {"lossless_preemptions", &Summary::lossless_preemptions, Where::json},
      {"failed_runs", &Summary::failed_runs, Where::json},
      {"deadline_jobs", &Summary::deadline_jobs},
      {"guarantee", &Summary::guarantee},
      {"avg_tardiness_s", &Summary::avg_tardiness_s},
      {"p99_tardiness_s", &Summary::p99_tardiness_s},
      {"value_earned", &Summary::value_earned},
      {"value_possible", &Summary::value_possible},
      {"jain_user_slowdown", &Summary::jain_user_slowdown, Where::fairness},
      {"worst_user_avg_wait_s", &Summary::worst_user_avg_wait_s, Where::fairness},
      {"worst_vc_avg_wait_s", &Summary::worst_vc_avg_wait_s, Where::fairness},
      {"share_error", &Summary::share_error, Where::fairness},
      {"jain_fair_share", &Summary::jain_fair_share, Where::fairness, "jain_due"},
      {"worst_fair_share", &Summary::worst_fair_share, Where::fairness, "worst_due"},
      {"avg_finish_time_ratio", &Summary::avg_finish_time_ratio, Where::fairness},
      {"unfair_jobs", &Summary::unfair_jobs, Where::fairness},
      {"nodes_asleep", &Summary::nodes_asleep},
      {"wake_ups_a_day", &Summary::wake_ups_a_day},
      {"nodes_woken_a_day", &Summary::nodes_woken_a_day, Where::json},
      {"jobs_held_back", &Summary::jobs_held_back},
      {"avg_hold_s", &Summary::avg_hold_s},
      {"energy_j", &Summary::energy_j},
      {"energy_saved_j", &Summary::energy_saved_j},
      {"energy_bound_j", &Summary::energy_bound_j},
      {"facility_kwh", &Summary::facility_kwh},
      {"cost", &Summary::cost},
      {"kg_co2", &Summary::kg_co2},
      {"jobs_kwh", &Summary::jobs_kwh},
      {"jobs_cost", &Summary::jobs_cost},
      {"jobs_kg_co2", &Summary::jobs_kg_co2},
      {"gpu_cost", &Summary::gpu_cost},
      {"events", &Summary::events, Where::json},
      {"engine_wall_s", &Summary::engine_wall_s, Where::json},
  });
  return kFields;
}

}  // namespace almanac::experiment
