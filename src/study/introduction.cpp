// SPDX-License-Identifier: Apache-2.0
#include "study/introduction.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "cluster/capacity.h"
#include "cluster/read.h"
#include "table/digest.h"
#include "text/datetime.h"
#include "text/human.h"

namespace almanac::study {
namespace {

std::string date_of(Time time) { return text::format_datetime(time).substr(0, 10); }

std::int64_t distinct(const trace::Trace& trace, NameId trace::Request::*field) {
  std::vector<bool> seen(trace.names.size());
  for (const trace::Job& job : trace.jobs) seen[index(job.request.*field)] = true;
  seen[index(kNoName)] = false;
  return std::count(seen.begin(), seen.end(), true);
}

}  // namespace

void introduce(figure::Document& document, const Study& study, const Introduction& introduction) {
  const trace::Trace& trace = study.trace();
  const cluster::Cluster& cluster = study.cluster();
  const auto jobs = static_cast<std::int64_t>(trace.jobs.size());
  const Time first = trace.jobs.front().request.submit;
  const Time last = trace.jobs.back().request.submit;
  const std::string span = study.has(Need::calendar)
                               ? fmt::format("{} to {}", date_of(first), date_of(last))
                               : fmt::format("{} from the first submission to the last",
                                             text::human_time(seconds(last - first)));
  document.title = introduction.title;
  document.subtitle = fmt::format("{}, {}", text::counted(trace.jobs.size(), "job"), span);

  double gpu_s = 0;
  double run_gpu_s = 0;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    gpu_s += gpu_time(job);
    run_gpu_s +=
        seconds(job.outcome.run) * job.request.gpus * static_cast<double>(job.request.gpu_share);
  }
  constexpr double kAlike = 0.005;
  const bool other_runs = std::abs(gpu_s - run_gpu_s) > kAlike * gpu_s;
  const auto fact = [&](const char* label, std::int64_t value) {
    if (value > 0) document.facts.emplace_back(label, text::grouped(value));
  };
  fact("GPU jobs", static_cast<std::int64_t>(study.gpu_jobs().size()));
  fact("CPU jobs", static_cast<std::int64_t>(study.cpu_jobs().size()));
  fact("never ran, or for 0 s", study.never_ran());
  fact("users", distinct(trace, &trace::Request::user));
  fact("virtual clusters", distinct(trace, &trace::Request::vc));
  fact(other_runs ? "GPU-hours from first starts to last ends" : "GPU-hours",
       static_cast<std::int64_t>(gpu_s / 3600));
  if (other_runs) {
    fact("GPU-hours of run time alone, as trace info counts",
         static_cast<std::int64_t>(run_gpu_s / 3600));
  }
  const cluster::Capacity most = cluster::most_at_once(cluster);
  fact("nodes", most.nodes);
  fact("GPUs", most.gpus);

  document.notes = trace.notes;
  document.notes.insert(document.notes.end(), cluster.notes.begin(), cluster.notes.end());
  const std::string all =
      trace.sha256 + "\n" + introduction.filter + "\n" + cluster::to_toml(cluster);
  document.provenance = {.trace = trace.path,
                         .sha256 = trace.sha256,
                         .filter = introduction.filter,
                         .jobs = jobs,
                         .hash = table::sha256(all).substr(0, 16),
                         .version = introduction.version,
                         .command = introduction.command};
}

void hold_back(figure::Document& document, const Study& study) {
  constexpr std::size_t kFewest = 20;
  const std::size_t ran = study.gpu_jobs().size() + study.cpu_jobs().size();
  if (ran >= kFewest) return;
  document.findings = {{.headline = fmt::format(
                            "Too few jobs ran ({}) to say in words how the cluster is used.", ran),
                        .detail = "The figures show what there is.",
                        .figure = {},
                        .advice = {}}};
}

}  // namespace almanac::study
