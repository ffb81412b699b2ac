// SPDX-License-Identifier: Apache-2.0
#include "study/alerts.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "text/duration.h"
#include "text/human.h"

namespace almanac::study {
namespace {

/// Whether the type is one of the strong ones and not an instance of one ("a100_3g.20gb").
bool is_strong(const JobUse& job, const Norms& norms) {
  std::string type = job.gpu_type;
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (type.find("g.") != std::string::npos) return false;
  return std::any_of(norms.strong_gpus.begin(), norms.strong_gpus.end(),
                     [&](const std::string& each) { return type.find(each) != std::string::npos; });
}

/// Comparisons with NaN are false, so nothing unknown breaks a norm.
bool breaks(AlertKind kind, const JobUse& job, const Norms& norms) {
  switch (kind) {
    case AlertKind::unused_gpus:
      return job.left_gpus_unused();
    case AlertKind::low_gpu_use:
      return job.gpu_use_bound() <= norms.low_gpu_use && !job.left_gpus_unused();
    case AlertKind::many_cores:
      return job.cores > norms.cores_per_gpu * job.gpus && job.core_share() < norms.cores_used;
    case AlertKind::much_memory:
      return job.memory_gb > norms.memory_gb_per_gpu * job.gpus &&
             job.memory_share() < norms.memory_used;
    case AlertKind::strong_gpu:
      return job.gpus == 1 && is_strong(job, norms) && job.gpu_use_bound() <= norms.small_gpu_use &&
             !job.left_gpus_unused() && job.gpu_memory_gb < norms.small_gpu_memory_gb &&
             job.memory_used_gb < norms.small_memory_gb;
    case AlertKind::long_time_limit:
      return job.state == "COMPLETED" && job.time_share() <= norms.limit_used;
  }
  return false;
}

}  // namespace

std::string_view to_string(AlertKind kind) {
  switch (kind) {
    case AlertKind::unused_gpus:
      return "unused-gpus";
    case AlertKind::low_gpu_use:
      return "low-gpu-use";
    case AlertKind::many_cores:
      return "many-cores";
    case AlertKind::much_memory:
      return "much-memory";
    case AlertKind::strong_gpu:
      return "strong-gpu";
    case AlertKind::long_time_limit:
      return "long-time-limit";
  }
  return "";
}

std::string norm_in_words(AlertKind kind, const Norms& norms) {
  switch (kind) {
    case AlertKind::unused_gpus:
      return "GPUs at 0 % use";
    case AlertKind::low_gpu_use:
      return fmt::format("GPU use up to {}", text::human_share(norms.low_gpu_use));
    case AlertKind::many_cores:
      return fmt::format("more than {:g} cores/GPU, less than {} of them used", norms.cores_per_gpu,
                         text::human_share(norms.cores_used));
    case AlertKind::much_memory:
      return fmt::format("more than {:g} GB/GPU, less than {} of it used", norms.memory_gb_per_gpu,
                         text::human_share(norms.memory_used));
    case AlertKind::strong_gpu:
      return fmt::format(
          "a strong GPU, use up to {}, less than {:g} GB of its memory and {:g} GB of memory used",
          text::human_share(norms.small_gpu_use), norms.small_gpu_memory_gb, norms.small_memory_gb);
    case AlertKind::long_time_limit:
      return fmt::format("up to {} of the time limit used by a job that completed",
                         text::human_share(norms.limit_used));
  }
  return "";
}

std::string_view remedy(AlertKind kind) {
  switch (kind) {
    case AlertKind::unused_gpus:
      return "Check that the program uses the GPU (nvidia-smi on the node while it runs), that it "
             "was built for GPUs, and that it uses all the GPUs it has. If it needs none, request "
             "none.";
    case AlertKind::low_gpu_use:
      return "The GPU waits for something else most of the time: often for data. More workers to "
             "load data, larger batches or fewer GPUs may help.";
    case AlertKind::many_cores:
      return "Request fewer cores per GPU. Other jobs can then use the other GPUs of the node.";
    case AlertKind::much_memory:
      return "Request less memory per GPU. Other jobs can then use the other GPUs of the node.";
    case AlertKind::strong_gpu:
      return "A smaller GPU, or a part of one (MIG), is enough for such jobs, and is often free "
             "earlier.";
    case AlertKind::long_time_limit:
      return "Request a shorter time limit. Short jobs fit into gaps and start earlier.";
  }
  return "";
}

std::string breach_in_words(AlertKind kind, const JobUse& job) {
  using text::human_share;
  switch (kind) {
    case AlertKind::unused_gpus:
      return "0 % GPU use";
    case AlertKind::low_gpu_use:
      return fmt::format("{} GPU use{}", human_share(job.gpu_use_bound()),
                         job.gpu_use_is_sample ? " at most" : "");
    case AlertKind::many_cores:
      return fmt::format("{:.3g} cores/GPU, {} used", job.cores / job.gpus,
                         human_share(job.core_share()));
    case AlertKind::much_memory:
      return fmt::format("{:.4g} GB/GPU, {} used", job.memory_gb / job.gpus,
                         human_share(job.memory_share()));
    case AlertKind::strong_gpu:
      return fmt::format("{}: {} use{}, {:.1f} GB", job.gpu_type, human_share(job.gpu_use_bound()),
                         job.gpu_use_is_sample ? " at most" : "", job.gpu_memory_gb);
    case AlertKind::long_time_limit:
      return fmt::format("{} of {}", human_share(job.time_share()),
                         text::format_duration(job.limit));
  }
  return "";
}

double gpu_hours_of(AlertKind kind, const JobUse& job) {
  if (kind != AlertKind::long_time_limit) return job.gpu_hours();
  return job.gpus * seconds(job.limit - job.longest_run()) / 3600;
}

std::vector<Alert> find_alerts(const std::vector<JobUse>& jobs, const Norms& norms) {
  std::map<std::pair<AlertKind, std::string>, Alert> alerts;
  for (const JobUse& job : jobs) {
    if (job.gpus <= 0 || seconds(job.elapsed) < 60 * norms.shortest_min) continue;
    for (const AlertKind kind : kAlertKinds) {
      if (!breaks(kind, job, norms)) continue;
      Alert& alert = alerts[{kind, job.user}];
      alert.jobs.push_back(&job);
      alert.gpu_hours += gpu_hours_of(kind, job);
    }
  }
  std::vector<Alert> made;
  for (auto& [key, alert] : alerts) {
    if (alert.gpu_hours < norms.gpu_hours) continue;
    std::tie(alert.kind, alert.user) = key;
    std::stable_sort(alert.jobs.begin(), alert.jobs.end(), [&](const JobUse* a, const JobUse* b) {
      return gpu_hours_of(alert.kind, *a) > gpu_hours_of(alert.kind, *b);
    });
    made.push_back(std::move(alert));
  }
  std::stable_sort(made.begin(), made.end(), [](const Alert& a, const Alert& b) {
    return std::pair(a.kind, -a.gpu_hours) < std::pair(b.kind, -b.gpu_hours);
  });
  return made;
}

}  // namespace almanac::study
