// SPDX-License-Identifier: Apache-2.0
#include "machine/measured.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace almanac::machine {
namespace {

/// Ways to make steps that are kept of a job: what a fit costs grows with them.
constexpr std::size_t kMostWays = 64;

}  // namespace

Measured::Measured(Book& book, const std::vector<store::JobNumber>& numbers,
                   const perf::Measuring& measuring, std::size_t nodes)
    : book_(book), numbers_(numbers), measuring_(measuring), is_one_node_(nodes == 1) {}

const Entry* Measured::entry_of(JobId job) const { return book_.find(numbers_[index(job)]); }

double for_policy(const store::Submission& asked, double metric) {
  return asked.smaller_is_better ? -metric : metric;
}

std::vector<Report> Measured::take(const Sight& sight) {
  std::vector<Report> reported;
  all_gpus_tell_ = sight.all_gpus_tell;
  bandwidth_gbs_ = sight.bandwidth_gbs;
  for (const Sight::OfJob& each : sight.jobs) {
    Entry* const entry = book_.find(each.job);
    if (entry == nullptr) continue;
    if (each.gpu_use) entry->of_runs.change().gpu_use.add(*each.gpu_use);
    entry->of_runs.change().bandwidth_gbs = each.bandwidth_gbs;
    if (!each.progress) continue;
    const auto before = std::exchange(entry->of_runs.change().progress, each.progress);
    const perf::OwnProgress& now = *each.progress;
    const bool is_first_way = add_pace(*entry);
    if (now.metric && (!before || before->metric != now.metric)) {
      reported.push_back({each.job, for_policy(entry->job.asked, now.metric->value)});
    } else if (is_first_way || (now.noise && (!before || before->noise != now.noise))) {
      reported.push_back({each.job, std::nan("")});
    }
  }
  return reported;
}

bool add_pace(Entry& entry) {
  const auto& pace = entry.of_runs->progress->pace;
  if (!pace || entry.moves || entry.is_starting() || entry.of_runs->seen.size() == kMostWays)
    return false;
  elastic::Observation made{.nodes = static_cast<int>(entry.job.held_gpus.size()), .gpus = 0};
  for (const cluster::Grant& grant : entry.job.held_gpus) made.gpus += grant.count();
  const int batch = entry.batch > 0 ? entry.batch : entry.job.asked->batch;
  if (made.gpus == 0 || (pace->samples == 0 && batch == 0)) return false;
  made.atomic_batch = pace->samples > 0 ? pace->samples : (batch + made.gpus - 1) / made.gpus;
  made.time = {.step_s = pace->step_s, .sync_s = pace->exchange_s};
  const bool is_known = std::any_of(entry.of_runs->seen.begin(), entry.of_runs->seen.end(),
                                    [&](const elastic::Observation& each) {
                                      return each.nodes == made.nodes && each.gpus == made.gpus &&
                                             each.atomic_batch == made.atomic_batch;
                                    });
  if (!is_known) entry.of_runs.change().seen.push_back(made);
  return !is_known;
}

std::optional<policy::Training> Measured::training(JobId job, Time) const {
  const Entry* const entry = entry_of(job);
  if (entry == nullptr) return std::nullopt;
  const store::Submission& asked = entry->job.asked;
  const bool may_vary = asked.max_gpus > 0 && asked.steps > 0 && asked.batch > 0;
  if (!entry->of_runs->progress && !may_vary) return std::nullopt;
  policy::Training made{.total = static_cast<double>(asked.steps), .seen = entry->of_runs->seen};
  if (asked.batch > 0) {
    made.batches = {.initial_batch = asked.batch,
                    .max_batch = asked.batch,
                    .min_local_batch = 1,
                    .max_local_batch = asked.batch};
  }
  if (!entry->of_runs->progress) return made;
  const perf::OwnProgress& said = *entry->of_runs->progress;
  made.progress = said.step;
  if (said.batches && asked.batch > 0) {
    made.batches.max_batch = std::max(asked.batch, said.batches->most);
    made.batches.min_local_batch = std::min(asked.batch, said.batches->least_of_gpu);
    made.batches.max_local_batch =
        said.batches->most_of_gpu > 0 ? said.batches->most_of_gpu : made.batches.max_batch;
  }
  if (said.noise) made.gradient = elastic::Gradient{said.noise->sqr, said.noise->var};
  if (said.metric) {
    made.metric = for_policy(asked, said.metric->value);
    made.metric_at = said.metric->step;
  }
  return made;
}

std::optional<double> Measured::gpu_use(JobId job) const {
  const Entry* const entry = entry_of(job);
  return entry != nullptr ? entry->of_runs->gpu_use.mean() : std::nullopt;
}

bool Measured::will_know_gpu_use(JobId job) const {
  const Entry* const entry = entry_of(job);
  return entry != nullptr && all_gpus_tell_ && entry->job.asked->gpus > 0 &&
         entry->job.asked->gpu_share == 1;
}

std::optional<double> Measured::fresh(const std::optional<perf::Stretch>& told) const {
  return told && told->from >= changed_ ? std::optional(told->value) : std::nullopt;
}

std::optional<double> Measured::bandwidth_gbs(JobId job) const {
  const Entry* const entry = entry_of(job);
  return entry != nullptr ? fresh(entry->of_runs->bandwidth_gbs) : std::nullopt;
}

std::optional<double> Measured::bandwidth_gbs(NodeId) const {
  return is_one_node_ ? fresh(bandwidth_gbs_) : std::nullopt;
}

}  // namespace almanac::machine
