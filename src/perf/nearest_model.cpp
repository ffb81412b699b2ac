// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "perf/speed_models.h"

namespace almanac::perf {
namespace {

/// Distance of models of the same kind with nothing else in common: after all comparable ones.
constexpr double kIncomparable = 1e9;

/// Squared logarithms of what both tell.
struct Distance {
  double sum = 0;
  int told = 0;

  void add(double asked, double known) {
    if (!(asked > 0) || !(known > 0)) return;
    sum += std::pow(std::log(asked / known), 2);
    ++told;
  }
};

std::optional<double> distance_to(const Model& model, const Features& features) {
  if (!features.kind.empty() && model.kind != features.kind) return std::nullopt;
  Distance distance;
  if (model.input) {
    distance.add(features.cpus_per_gpu, model.input->curve.enough_cpus);
    distance.add(features.memory_gb_per_gpu, model.input->curve.enough_memory_gb());
  }
  if (const Board* const board = model.find(features.gpu_type)) {
    const double batch = features.batch_per_gpu > 0 ? features.batch_per_gpu : board->usual_batch();
    distance.add(features.step_s, board->step.compute(batch));
  }
  if (distance.told > 0) return distance.sum / distance.told;
  if (features.kind.empty()) return std::nullopt;
  const bool only_kind = std::isnan(features.cpus_per_gpu) &&
                         std::isnan(features.memory_gb_per_gpu) && std::isnan(features.step_s);
  return only_kind ? 0 : kIncomparable;
}

double need_of(const Model& model) { return model.input ? model.input->curve.enough_cpus : 0; }

}  // namespace

const Model* nearest_model(const Catalogue& catalogue, const Features& features,
                           const Model* except) {
  std::vector<const Model*> nearest;
  double least = std::numeric_limits<double>::infinity();
  for (const Model& model : catalogue.models) {
    const auto distance = distance_to(model, features);
    if (&model == except || !distance || *distance > least) continue;
    if (*distance < least) nearest.clear();
    least = *distance;
    nearest.push_back(&model);
  }
  if (nearest.empty()) return nullptr;
  // A model whose input is known says more than one whose is not.
  if (std::any_of(nearest.begin(), nearest.end(), [](const Model* m) { return m->input; })) {
    std::erase_if(nearest, [](const Model* model) { return !model->input; });
  }
  std::stable_sort(nearest.begin(), nearest.end(),
                   [](const Model* a, const Model* b) { return need_of(*a) < need_of(*b); });
  return nearest[(nearest.size() - 1) / 2];
}

}  // namespace almanac::perf
