// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/reported_speeds.h"

#include <algorithm>
#include <cmath>

namespace almanac::policy {
namespace {

constexpr std::size_t kMostReports = 150;   // of a model: what a fit costs grows with them
constexpr std::size_t kMostKnown = 50'000;  // answers that are kept

/// Returns the speed of a running job's GPUs under its power limit, relative to no limit.
double under_limit(JobId job, const View& view) {
  const int power_w = view.config(job).power_w;
  if (power_w == 0 || view.speeds == nullptr) return 1;
  return view.speeds->power(job, view.grants(job), power_w) /
         view.speeds->power(job, view.grants(job), 0);
}

}  // namespace

void ReportedSpeeds::hear(JobId job, const Training& told, const View& view, std::uint64_t type) {
  Page& page = pages_[job];
  page.model = view.request(job).model;
  page.batches = told.batches;
  page.gradient = told.gradient;
  Lore& lore = pool_ == Pool::of_job || page.model == kNoName ? page.own : lores_[page.model];
  if (told.gradient && told.total > 0 && told.progress / told.total < lore.first_at) {
    lore.first_at = told.progress / told.total;
    lore.first = *told.gradient;
  }
  bool has_news = false;
  bool has_news_of_type = false;
  for (; page.read < told.seen.size(); ++page.read) {
    elastic::Observation report = told.seen[page.read];
    report.time = report.time.on_gpus_of(1 / under_limit(job, view));
    has_news = add(lore, report) || has_news;
    if (type != 0) {
      has_news_of_type = add(page.on_type[type], report) || has_news_of_type;
    }
  }
  if (has_news) fit(lore);
  if (has_news_of_type) fit(page.on_type[type]);
}

bool ReportedSpeeds::add(Lore& lore, const elastic::Observation& report) {
  const bool is_known =
      std::any_of(lore.seen.begin(), lore.seen.end(), [&](const elastic::Observation& each) {
        return each.nodes == report.nodes && each.gpus == report.gpus &&
               each.atomic_batch == report.atomic_batch;
      });
  if (is_known || lore.seen.size() == kMostReports) return false;
  lore.seen.push_back(report);
  return true;
}

void ReportedSpeeds::fit(Lore& lore) {
  lore.model = elastic::fit_steps(lore.seen);
  lore.fit = ++fits_;
}

std::vector<std::uint64_t> ReportedSpeeds::types(JobId job) const {
  std::vector<std::uint64_t> made;
  const auto page = pages_.find(job);
  if (page == pages_.end()) return made;
  for (const auto& [type, lore] : page->second.on_type) made.push_back(type);
  return made;
}

bool ReportedSpeeds::knows(JobId job) const {
  const auto page = pages_.find(job);
  return page != pages_.end() && !lore(page->second).seen.empty();
}

int ReportedSpeeds::most_gpus(JobId job) const {
  int most = 0;
  for (const elastic::Observation& each : lore(page(job)).seen) most = std::max(most, each.gpus);
  return most;
}

elastic::Gradient ReportedSpeeds::gradient(JobId job) const {
  const Page& own = page(job);
  return own.gradient ? *own.gradient : lore(own).first;
}

elastic::Goodput ReportedSpeeds::best(JobId job, int nodes, int gpus) {
  return best_by(lore(page(job)), job, nodes, gpus);
}

elastic::Goodput ReportedSpeeds::best_on(JobId job, std::uint64_t type, int nodes, int gpus) {
  return best_by(page(job).on_type.at(type), job, nodes, gpus);
}

elastic::Goodput ReportedSpeeds::best_by(const Lore& lore, JobId job, int nodes, int gpus) {
  const Page& own = page(job);
  const elastic::Gradient noise = gradient(job);
  if (known_.size() > kMostKnown) known_.clear();
  const elastic::BatchLimits& may = own.batches;
  const std::array batches{may.initial_batch, may.max_batch, may.min_local_batch,
                           may.max_local_batch};
  const auto [found, is_new] =
      known_.try_emplace({lore.fit, noise.sqr, noise.var, batches, nodes, gpus});
  if (is_new) {
    found->second = elastic::best_goodput(lore.model, noise, own.batches, nodes, gpus);
  }
  return found->second;
}

double ReportedSpeeds::step_s(JobId job, int nodes, int gpus, elastic::Split split) const {
  const elastic::StepModel& model = lore(page(job)).model;
  return model.step_s(nodes, gpus, split.atomic_batch) +
         split.accumulations * model.pass_s(split.atomic_batch);
}

double ReportedSpeeds::batch_step_s(JobId job, int nodes, int gpus, int batch) const {
  const elastic::BatchLimits& limits = page(job).batches;
  return step_s(job, nodes, gpus,
                elastic::within_max_batch(limits, gpus, elastic::split_batch(limits, gpus, batch)));
}

double ReportedSpeeds::correction(JobId job, int nodes, int gpus) const {
  const Lore& known = lore(page(job));
  double sum = 0;
  int count = 0;
  for (const elastic::Observation& each : known.seen) {
    if (each.nodes != nodes || each.gpus != gpus) continue;
    sum += std::log(known.model.step_s(nodes, gpus, each.atomic_batch) / each.time.step_s);
    ++count;
  }
  return count > 0 ? std::exp(sum / count) : 1;
}

}  // namespace almanac::policy
