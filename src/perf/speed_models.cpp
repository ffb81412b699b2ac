// SPDX-License-Identifier: Apache-2.0
#include "perf/speed_models.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "perf/model_name.h"

namespace almanac::perf {
namespace {

/// A name so short is in too many others.
constexpr std::size_t kShortestName = 3;

/// The board of the fastest type, as far as types are compared, of those that `counts` takes;
/// nullptr = none.
template <typename Counts>
const Board* fastest_board(const Catalogue& catalogue, const Model& model, Counts counts) {
  const Board* best = nullptr;
  double fastest = 0;
  for (const Board& board : model.boards) {
    const GpuClass* const gpu = catalogue.find_gpu(board.gpu_type);
    const double speed = gpu == nullptr ? 0 : gpu->speed;
    if (!counts(board) || (best != nullptr && speed <= fastest)) continue;
    best = &board;
    fastest = speed;
  }
  return best;
}

/// The board of the home type, or one that stands in for it.
const Board* home_board(const Catalogue& catalogue, const Model& model) {
  const Board* const fed = model.input ? model.find(model.input->gpu_type) : nullptr;
  if (fed != nullptr) return fed;
  return fastest_board(catalogue, model, [](const Board&) { return true; });
}

/// How fast a type is relative to another, for all models; 1 = not known.
double mean_speed(const Catalogue& catalogue, std::string_view type, std::string_view home) {
  const GpuClass* const one = catalogue.find_gpu(type);
  const GpuClass* const other = catalogue.find_gpu(home);
  return one == nullptr || other == nullptr ? 1 : one->speed / other->speed;
}

}  // namespace

std::string home_type(const Catalogue& catalogue, const Model& model) {
  if (model.input) return model.input->gpu_type;
  const Board* const board = home_board(catalogue, model);
  return board == nullptr ? "" : board->gpu_type;
}

SpeedModels::SpeedModels(Catalogue catalogue) : catalogue_(std::move(catalogue)) {
  for (const GpuClass& gpu : catalogue_.gpus) gpu_types_.push_back(gpu.type);
  for (const Model& model : catalogue_.models) {
    bare_names_.push_back(bare_name(model.name));
    for (const Board& board : model.boards) gpu_types_.push_back(board.gpu_type);
  }
  std::sort(gpu_types_.begin(), gpu_types_.end());
  gpu_types_.erase(std::unique(gpu_types_.begin(), gpu_types_.end()), gpu_types_.end());
  std::erase(gpu_types_, "");
  gpu_types_.insert(gpu_types_.begin(), "");
}

GpuType SpeedModels::gpu_type(std::string_view name) const {
  const std::string bare = bare_name(name);
  std::size_t best = 0;
  for (std::size_t type = 1; type < gpu_types_.size(); ++type) {
    if (contains(bare, bare_name(gpu_types_[type])) &&
        gpu_types_[type].size() > gpu_types_[best].size()) {
      best = type;
    }
  }
  if (best > 0) return GpuType{static_cast<std::uint16_t>(best)};
  // Drivers say more than clusters do: "NVIDIA A100-SXM4-80GB" is an "A100".
  for (std::size_t type = 1; type < gpu_types_.size(); ++type) {
    if (contains(bare_name(gpu_types_[type]), bare) &&
        (best == 0 || gpu_types_[type].size() < gpu_types_[best].size())) {
      best = type;
    }
  }
  return GpuType{static_cast<std::uint16_t>(best)};
}

Found SpeedModels::find(const Features& features) {
  const std::string bare = bare_name(features.name);
  const Model* model = features.name.empty() ? nullptr : catalogue_.find(model_name(features.name));
  Match match = Match::name;
  if (model == nullptr && !bare.empty()) {
    model = find_within(bare);
    match = Match::in_name;
  }
  if (model == nullptr) {
    model = nearest_model(catalogue_, features);
    match = Match::nearest;
  }
  const std::string asked(features.name.empty() ? "a job without a name" : features.name);
  Found found{.speed = nullptr, .match = match, .model = {}, .said = {}};
  if (model == nullptr) {
    found.match = Match::none;
    found.said = fmt::format("{}: no similar model; its speed is assumed from its GPUs", asked);
  } else {
    found.model = model->name;
    if (match == Match::in_name)
      found.said = fmt::format("{}: matched by name to {}", asked, model->name);
    if (match == Match::nearest) {
      found.said = fmt::format("{}: unknown; treated as {}, the nearest model", asked, model->name);
    }
  }
  found.speed = speed_of(model, model == nullptr ? 0 : features.batch_per_gpu);
  return found;
}

const Model* SpeedModels::find_within(const std::string& bare) const {
  const Model* best = nullptr;
  std::size_t longest = kShortestName - 1;
  for (std::size_t at = 0; at < bare_names_.size(); ++at) {
    const std::string& name = bare_names_[at];
    if (name.size() <= longest || !contains(bare, name)) continue;
    best = &catalogue_.models[at];
    longest = name.size();
  }
  return best;
}

const SpeedModel* SpeedModels::speed_of(const Model* model, double batch_per_gpu) {
  const double batch = batch_per_gpu > 0 ? batch_per_gpu : 0;
  const SpeedModel*& known = known_[{model, batch}];
  if (known == nullptr) known = &made_.emplace_back(make(model, batch));
  return known;
}

SpeedModel SpeedModels::make(const Model* model, double batch_per_gpu) const {
  std::vector<SpeedModel::OnType> types(gpu_types_.size());
  if (model == nullptr) return SpeedModel(std::move(types));
  for (std::size_t type = 0; type < types.size(); ++type) {
    types[type] = on_type(*model, gpu_types_[type], batch_per_gpu);
  }
  if (!model->input) return SpeedModel(std::move(types));
  return model->input->table != nullptr ? SpeedModel(std::move(types), *model->input->table)
                                        : SpeedModel(std::move(types), model->input->curve);
}

SpeedModel::OnType SpeedModels::on_type(const Model& model, const std::string& type,
                                        double batch_per_gpu) const {
  SpeedModel::OnType made;
  const Board* const home = home_board(catalogue_, model);
  const Board* const here = model.find(type);
  const std::string known_on = home_type(catalogue_, model);
  if (!type.empty()) made.alone = mean_speed(catalogue_, type, known_on);
  const Board* const board = here != nullptr ? here : home;
  if (board == nullptr) return made;

  const double batch = std::clamp(batch_per_gpu > 0 ? batch_per_gpu : board->usual_batch(),
                                  board->least_batch, board->most_batch);
  const double compute_s = board->step.compute(batch);
  if (here != nullptr && here->source == home->source && home->gpu_type == known_on) {
    made.alone = home->step.compute(batch) / compute_s;
  }
  made.step = {.fixed = 1,
               .sample = 0,
               .local = board->step.local / compute_s,
               .local_more = board->step.local_more / compute_s,
               .remote = board->step.remote / compute_s,
               .remote_more = board->step.remote_more / compute_s,
               .remote_spread = board->step.remote_spread / compute_s,
               .overlap = board->step.overlap};
  made.step_s = compute_s;
  const double longer = compute_s / board->step.compute(board->usual_batch());
  if (board->phases) {
    made.phases = {.rollout = board->phases->rollout * longer,
                   .training = board->phases->training * longer,
                   .switching = board->phases->switching};
  }
  if (board->stages) {
    made.stages = {.load = board->stages->load * longer,
                   .compute = board->stages->compute * longer,
                   .network = board->stages->network * longer};
  }

  const GpuClass* const gpu = catalogue_.find_gpu(type);
  if (here != nullptr && !here->sharing && gpu != nullptr && gpu->sharing) {
    const Sharing told = gpu->sharing->of(compute_s);
    made.suffers = told.suffers;
    made.causes = told.causes;
    return made;
  }
  // If sharing was not measured on this type, the fastest type with measurements is used.
  const Board* const shares = here != nullptr && here->sharing
                                  ? here
                                  : fastest_board(catalogue_, model, [](const Board& at) {
                                      return at.sharing.has_value();
                                    });
  if (shares == nullptr) return made;
  made.suffers = shares->sharing->suffers_at(batch);
  made.causes = shares->sharing->causes_at(batch);
  return made;
}

}  // namespace almanac::perf
