// SPDX-License-Identifier: Apache-2.0
#include "gavel/regimes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace almanac::gavel {
namespace {

struct Model {
  int samples;
  int smallest;  ///< Batch; 0 = it never changes.
  int largest;
};

const std::map<std::string, Model>& models() {
  static const std::map<std::string, Model> all = {{"ResNet-18", {50'000, 16, 256}},
                                                   {"ResNet-50", {100'000, 16, 128}},
                                                   {"Transformer", {10'000, 16, 128}},
                                                   {"LM", {59'675, 5, 80}},
                                                   {"Recommendation", {117'907, 512, 8192}},
                                                   {"CycleGAN", {6'287, 0, 0}},
                                                   {"A3C", {4, 0, 0}}};
  return all;
}

const Model* find_model(const std::string& name) {
  const auto found = models().find(name);
  return found == models().end() ? nullptr : &found->second;
}

/// Epochs in which accordion trains with the batch that the job began with.
bool is_critical(const std::string& model, int batch, int epoch) {
  const auto within = [epoch](int from, int until) { return epoch >= from && epoch < until; };
  if (model == "ResNet-18") {
    return epoch < (batch == 256 ? 20 : 10) || within(150, 160) || within(250, 260);
  }
  if (model == "ResNet-50") return epoch % 30 < 10;
  if (model == "LM") return epoch < 10;
  if (model == "Recommendation") {
    const int first = batch <= 1024 ? 30 : batch <= 2048 ? 40 : 10;
    return epoch < first || (batch <= 2048 && (within(60, 70) || within(80, 90)));
  }
  return true;
}

/// The batch of a pattern in an epoch. Beyond its end a job has as many epochs as it needs: the
/// last entry stays the last, and those between are as the one before it.
int batch_at(const std::vector<int>& pattern, int epoch, int now) {
  const int last = static_cast<int>(pattern.size()) - 1;
  if (epoch < last) return pattern[static_cast<std::size_t>(epoch)];
  const int length = std::max(last + 1, now + 2);
  return epoch == length - 1 ? pattern.back() : pattern[pattern.size() - 2];
}

double steps_an_epoch(int samples, int batch) {
  return std::ceil(static_cast<double>(samples) / batch);
}

}  // namespace

int samples_of(const std::string& model) {
  const Model* const found = find_model(model);
  return found == nullptr ? 0 : found->samples;
}

Regimes::Regimes(std::map<int, RegimeJob> jobs, const RegimeTables& tables) : tables_(tables) {
  for (auto& [number, job] : jobs) {
    const int batch = job.batch;
    jobs_.emplace(number, Now{.job = std::move(job), .batch = batch});
  }
}

int Regimes::batch_wanted(const Now& now, int epoch) const {
  const Model* const model = find_model(now.job.model);
  if (model == nullptr || model->largest == 0) return 0;
  if (now.job.mode == Mode::gns) {
    const auto pattern = tables_.patterns.find({now.job.model, now.job.batch, now.job.gpus});
    if (pattern == tables_.patterns.end() || pattern->second.size() < 2) return 0;
    const int soon = std::max(batch_at(pattern->second, epoch, epoch),
                              batch_at(pattern->second, epoch + 1, epoch));
    return soon > now.batch && now.batch != model->largest ? 2 * now.batch : 0;
  }
  if (now.job.mode != Mode::accordion) return 0;
  // Fault: its profile keeps the batch for the first 30 % of the epochs, the run does not.
  if (is_critical(now.job.model, now.job.batch, epoch)) {
    return now.batch != now.job.batch && now.batch != model->smallest ? now.job.batch : 0;
  }
  return now.batch != model->largest ? model->largest : 0;
}

void Regimes::round_over(int number, const Progress& progress) {
  Now& now = jobs_.at(number);
  const int samples = samples_of(now.job.model);
  if (samples == 0 || now.batch == 0) return;
  const auto epoch =
      static_cast<int>(std::ceil(progress.done / steps_an_epoch(samples, now.batch)));
  if (const int wanted = batch_wanted(now, epoch); wanted != 0) now.wanted = wanted;
}

void Regimes::ran(int number, Progress& progress) {
  Now& now = jobs_.at(number);
  const int wanted = std::exchange(now.wanted, 0);
  if (wanted == 0) return;
  const Model& model = *find_model(now.job.model);
  if (now.job.batch == model.largest && now.job.model != "Transformer") return;
  const auto kind = tables_.kinds.find({now.job.model, wanted, now.job.gpus});
  if (kind == tables_.kinds.end()) return;
  const double before = steps_an_epoch(model.samples, now.batch);
  const double after = steps_an_epoch(model.samples, wanted);
  const double epochs = std::ceil(progress.steps / before);
  progress.steps = std::ceil(progress.steps * now.batch / wanted);
  if (std::ceil(progress.steps / after) != epochs) progress.steps = epochs * after;
  // A started epoch counts as a whole one, so that more can be done than there is.
  progress.done = std::ceil(progress.done / before) * after;
  progress.kind = kind->second;
  now.batch = wanted;
}

bool Regimes::is_cut_off(int number, double run_s) const {
  return run_s > std::floor(1.5 * std::floor(jobs_.at(number).job.exclusive_s));
}

}  // namespace almanac::gavel
