// SPDX-License-Identifier: Apache-2.0
#include "submission/apply.h"

namespace almanac::submission {
namespace {

using Text = std::string_view;

}  // namespace

const std::vector<Option>& own_options() {
  using enum Argument;
  static const std::vector<Option> options{
      {"name", 'J', needed, [](Draft& d, Text t) { return put(d.asked.name, read_text(t)); }},
      {"vc", 'p', needed, [](Draft& d, Text t) { return put(d.asked.vc, read_text(t)); }},
      {"qos", 'q', needed, [](Draft& d, Text t) { return put(d.asked.qos, read_text(t)); }},
      {"model", '\0', needed, [](Draft& d, Text t) { return put(d.asked.model, read_text(t)); }},
      {"group", '\0', needed, [](Draft& d, Text t) { return put(d.asked.group, read_text(t)); }},
      {"smaller-is-better", '\0', none,
       [](Draft& d, Text) -> Result<void> {
         d.asked.smaller_is_better = true;
         return {};
       }},
      {"gpus", 'G', needed, set_gpus},
      {"max-gpus", '\0', needed,
       [](Draft& d, Text t) { return put(d.asked.max_gpus, read_count(t, 1)); }},
      {"gpu-type", '\0', needed,
       [](Draft& d, Text t) { return put(d.asked.gpu_type, read_text(t)); }},
      {"gpu-profile", '\0', needed,
       [](Draft& d, Text t) { return put(d.asked.gpu_profile, read_text(t)); }},
      {"gpu-mem", '\0', needed,
       [](Draft& d, Text t) {
         return put(d.asked.gpu_memory_gb, read_memory(t, BareMemory::refused));
       }},
      {"gpu-share", '\0', needed,
       [](Draft& d, Text t) -> Result<void> {
         const auto share = read_amount(t);
         if (!share || *share > 1) return fail(Code::invalid, "a number above 0 and up to 1");
         d.asked.gpu_share = *share;
         return {};
       }},
      {"cpus", 'c', needed,
       [](Draft& d, Text t) {
         d.tasks.reset();
         d.tasks_per_node.reset();
         d.cpus_per_task.reset();
         d.cpus_per_gpu.reset();
         return put(d.asked.cpus, read_amount(t));
       }},
      {"mem", '\0', needed,
       [](Draft& d, Text t) {
         d.memory_gb_per_cpu.reset();
         d.memory_gb_per_gpu.reset();
         return put(d.asked.memory_gb, read_memory(t, BareMemory::refused));
       }},
      {"io", '\0', needed, [](Draft& d, Text t) { return put(d.asked.io_mbs, read_rate(t)); }},
      {"time", 't', needed,
       [](Draft& d, Text t) { return put(d.asked.time_limit, read_limit(t, Duration::zero())); }},
      {"deadline", '\0', needed,
       [](Draft& d, Text t) { return put(d.asked.deadline, read_moment(t, d.now)); }},
      {"worthless-at", '\0', needed,
       [](Draft& d, Text t) { return put(d.asked.worthless_at, read_moment(t, d.now)); }},
      {"value", '\0', needed, [](Draft& d, Text t) { return put(d.asked.value, read_amount(t)); }},
      {"batch", '\0', needed,
       [](Draft& d, Text t) { return put(d.asked.batch, read_count(t, 1)); }},
      {"steps", '\0', needed,
       [](Draft& d, Text t) { return put(d.asked.steps, read_count(t, 1)); }},
      {"array", 'a', needed, set_array},
      {"after", '\0', needed, [](Draft& d, Text t) { return put(d.asked.after, read_jobs(t)); }},
      {"after-ok", '\0', needed,
       [](Draft& d, Text t) { return put(d.asked.after_ok, read_jobs(t)); }},
      {"after-not-ok", '\0', needed,
       [](Draft& d, Text t) { return put(d.asked.after_not_ok, read_jobs(t)); }},
      {"dependency", 'd', needed, set_dependency},
      {"begin", 'b', needed, set_begin},
      {"hold", 'H', none,
       [](Draft& d, Text) -> Result<void> {
         d.asked.hold = true;
         return {};
       }},
      {"requeue", '\0', none,
       [](Draft& d, Text) -> Result<void> {
         d.asked.requeue = true;
         return {};
       }},
      {"retries", '\0', needed,
       [](Draft& d, Text t) { return put(d.asked.retries, read_count(t, 0)); }},
      {"signal", '\0', needed, set_signal},
      {"grace", '\0', needed,
       [](Draft& d, Text t) -> Result<void> {
         const auto grace = read_limit(t, Duration::zero());
         if (!grace) return tl::unexpected(grace.error());
         d.asked.grace = *grace == kNoDuration ? Duration::zero() : *grace;
         return {};
       }},
      {"out", 'o', needed, [](Draft& d, Text t) { return put(d.asked.out, read_text(t)); }},
      {"err", 'e', needed, [](Draft& d, Text t) { return put(d.asked.err, read_text(t)); }},
      {"directory", 'D', needed,
       [](Draft& d, Text t) { return put(d.asked.directory, read_text(t)); }},
      {"export", '\0', needed, set_export},
  };
  return options;
}

}  // namespace almanac::submission
