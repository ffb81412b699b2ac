// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the pod lists of Alibaba's openb trace: requests of CPU, memory and parts of GPUs.
///
/// A pod's run is from scheduled_time to deletion_time. A pod that was never scheduled did not run:
/// run 0. A pod without a deletion_time runs until the last time of the file. gpu_milli below 1000
/// is a part of one GPU; gpu_spec ("V100M16|V100M32") is kept as it is. Memory is in GB of 1024
/// MiB. Lists without any time (the authors' variants for packing studies) are read as format
/// openb-requests: one pod per second in the order of the file, run 0.
///
/// Source   Weng et al., ATC'23; github.com/alibaba/clusterdata, cluster-trace-gpu-v2023.
#include <algorithm>

#include <fmt/format.h>

#include "text/number.h"
#include "trace/table_format.h"

namespace almanac::trace {

void register_openb(Formats& registry);

namespace {

constexpr const char* kNoDeletion =
    "pods without a deletion_time (treated as running until the last time in the file)";

enum OpenbExtra { kGpuMilli };

/// Reads the share of a GPU: 1000 is a whole one, and so is the 0 of pods that request no GPU.
std::string read_share(Draft& draft) {
  const std::string_view text = draft.extras[kGpuMilli];
  constexpr std::int64_t kWhole = 1000;
  const auto milli = text::parse_whole(text);
  if (draft.job.request.gpus <= 0) return {};
  if (!milli || *milli < 1 || *milli > kWhole) {
    return fmt::format("gpu_milli must be 1 to 1000, found \"{}\"", text.substr(0, 60));
  }
  draft.job.request.gpu_share = static_cast<float>(*milli) / static_cast<float>(kWhole);
  return {};
}

std::string finish_openb(Draft& draft, Intake& intake) {
  Outcome& outcome = draft.job.outcome;
  if (outcome.start == kNoTime) {
    outcome.run = Duration::zero();
    intake.remark("pods that were never scheduled (treated as a run of 0 s)");
  } else if (outcome.end == kNoTime) {
    outcome.run = Duration::zero();  // until conclude() knows the last time
    intake.remark(kNoDeletion);
  }
  return read_share(draft);
}

void conclude(Intake& intake) {
  Time last = kNoTime;
  for (const Job& job : intake.trace().jobs) {
    last = std::max({last, job.request.submit, job.outcome.start, job.outcome.end});
  }
  for (Job& job : intake.trace().jobs) {
    Outcome& outcome = job.outcome;
    if (outcome.start != kNoTime && outcome.end == kNoTime) outcome.run = last - outcome.start;
  }
}

std::string finish_request(Draft& draft, Intake& intake) {
  draft.job.request.submit = Time(std::chrono::seconds(draft.row - 1));
  draft.job.outcome.run = Duration::zero();
  intake.remark(
      "pods of a list without times (treated as arriving one per second and running 0 s)");
  return read_share(draft);
}

}  // namespace

void register_openb(Formats& registry) {
  constexpr double kMilli = 0.001;
  constexpr double kGbPerMib = 1.0 / 1024;
  TableFormat requests;
  requests.name = "openb-requests";
  requests.summary = "Alibaba openb pod list without times";
  requests.map.columns = {
      {"job_id", "name", true},
      {"gpus", "num_gpu", true},
      {"cpus", "cpu_milli", false, Unit::any, kMilli},
      {"memory_gb", "memory_mib", false, Unit::any, kGbPerMib},
      {"gpu_type", "gpu_spec"},
      {"qos", "qos"},
  };
  requests.extras = {"gpu_milli"};
  requests.needed_extras = 1;
  requests.marks = {"gpu_milli"};
  TableFormat pods = requests;
  requests.finish = finish_request;
  registry.add(as_format(std::move(requests)));

  pods.name = "openb";
  pods.summary = "Alibaba openb pod list (ATC'23)";
  pods.map.columns.insert(pods.map.columns.end(), {
                                                      {"submit_s", "creation_time", true},
                                                      {"start_s", "scheduled_time", true},
                                                      {"end_s", "deletion_time", true},
                                                      {"state", "pod_phase"},
                                                  });
  pods.finish = finish_openb;
  pods.conclude = conclude;
  registry.add(as_format(std::move(pods)));
}

}  // namespace almanac::trace
