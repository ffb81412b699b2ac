// SPDX-License-Identifier: Apache-2.0
#include "reproduce/elastic_trace.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reproduce/read.h"

namespace almanac::reproduce {
namespace {

constexpr elastic::TickOptions kPublished{};

/// Seconds that a job takes on the GPUs and with the batch that it asks, on full nodes.
double run_s(const elastic::TickJob& job) {
  const elastic::Application& application = *job.application;
  std::vector<int> ring(static_cast<std::size_t>(job.asked_gpus / kPublished.gpus_per_node),
                        kPublished.gpus_per_node);
  if (const int rest = job.asked_gpus % kPublished.gpus_per_node; rest > 0) ring.push_back(rest);
  const elastic::Split split =
      elastic::within_max_batch(application, job.asked_gpus,
                                elastic::split_batch(application, job.asked_gpus, job.asked_batch));
  const auto time = application.steps.at(ring, split.atomic_batch);
  require(time.has_value(),
          fmt::format("{} was not measured on {} GPUs", application.name, job.asked_gpus));
  const double step_s = elastic::step_seconds(*time, split.accumulations);
  const double batch = job.asked_gpus * split.local_batch();
  double sum = 0;
  for (int epoch = 0; epoch <= application.completion_epoch; ++epoch) {
    const double made = application.progress_after(epoch + 1) - application.progress_after(epoch);
    sum += std::max(0.0, made) * step_s /
           elastic::step_gain(application.gradient(batch, epoch), batch, application.initial_batch);
  }
  return sum;
}

}  // namespace

trace::Trace trace_of(const std::vector<elastic::TickJob>& jobs) {
  trace::Trace made;
  for (const elastic::TickJob& job : jobs) {
    trace::Job& each = made.jobs.emplace_back();
    each.id = made.key(job.name);
    each.request.submit = Time{std::chrono::seconds{job.submit_s}};
    each.request.gpus = job.asked_gpus;
    each.request.batch = job.asked_batch;
    each.request.model = made.names.intern(job.application->name);
    // The published program has ncf on one GPU always.
    each.request.max_gpus = job.application->name == "ncf" ? job.asked_gpus : kPublished.gpus();
    each.outcome.run = Duration{std::llround(run_s(job) * 1e3)};
    each.outcome.state = trace::JobState::completed;
  }
  return made;
}

}  // namespace almanac::reproduce
