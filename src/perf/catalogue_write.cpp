// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "perf/catalogue_file.h"

namespace almanac::perf {
namespace {

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

/// "error = 0.05" and "held_out = 0.08", where they are known.
std::string errors_of(const FitError& error) {
  std::string text;
  if (!std::isnan(error.seen)) text += fmt::format("error = {:.3f}\n", error.seen);
  if (!std::isnan(error.held_out)) text += fmt::format("held_out = {:.3f}\n", error.held_out);
  return text;
}

std::string sharing_of(const Sharing& sharing) {
  return fmt::format(
      "suffers = {:.4g}\nsuffers_power = {:.4g}\ncauses = {:.4g}\ncauses_power = {:.4g}\n",
      sharing.suffers, sharing.suffers_power, sharing.causes, sharing.causes_power);
}

std::string to_toml(const GpuClass& gpu) {
  std::string text = fmt::format("[[gpu]]\ntype = {}\nspeed = {:.4g}\n{}", quoted(gpu.type),
                                 gpu.speed, errors_of(gpu.speed_error));
  if (gpu.sharing) {
    const SharingByStep& told = *gpu.sharing;
    text +=
        fmt::format("[gpu.sharing]\n{}{}",
                    sharing_of({told.suffers, told.suffers_power, told.causes, told.causes_power}),
                    errors_of(gpu.sharing_error));
    if (!std::isnan(gpu.sharing_unseen_error)) {
      text += fmt::format("unseen = {:.3f}\n", gpu.sharing_unseen_error);
    }
  }
  return text;
}

std::string to_toml(const Input& input) {
  const InputCurve& curve = input.curve;
  std::string text = fmt::format("[model.input]\nsource = {}\n", quoted(input.source));
  if (!input.gpu_type.empty()) text += fmt::format("gpu_type = {}\n", quoted(input.gpu_type));
  return text +
         fmt::format("enough_cpus = {:.4g}\npower = {:.4g}\ndisk = {:.4g}\ndataset_gb = {:.4g}\n{}",
                     curve.enough_cpus, curve.power, curve.disk, curve.dataset_gb,
                     errors_of(input.error));
}

std::string to_toml(const Board& board) {
  const StepTime& step = board.step;
  std::string text = fmt::format(
      "[[model.board]]\ngpu_type = {}\nsource = {}\nfixed = {:.4g}\nsample = {:.4g}\n"
      "local = {:.4g}\nlocal_more = {:.4g}\nremote = {:.4g}\nremote_more = {:.4g}\n"
      "remote_spread = {:.4g}\noverlap = {:.4g}\nbatch = [{:.6g}, {:.6g}]\ngpus = {}\n{}",
      quoted(board.gpu_type), quoted(board.source), step.fixed, step.sample, step.local,
      step.local_more, step.remote, step.remote_more, step.remote_spread, step.overlap,
      board.least_batch, board.most_batch, board.most_gpus, errors_of(board.error));
  if (board.sharing) text += "[model.board.sharing]\n" + sharing_of(*board.sharing);
  if (board.stages) {
    text += fmt::format("[model.board.stages]\nload = {:.4g}\ncompute = {:.4g}\nnetwork = {:.4g}\n",
                        board.stages->load, board.stages->compute, board.stages->network);
  }
  if (board.phases) {
    text += fmt::format(
        "[model.board.phases]\nrollout = {:.4g}\ntraining = {:.4g}\nswitching = {:.4g}\n",
        board.phases->rollout, board.phases->training, board.phases->switching);
  }
  return text;
}

std::string to_toml(const char* key, const Genie& task) {
  std::string text = fmt::format("[model.{}]\n", key);
  if (!task.source.empty()) text += fmt::format("source = {}\n", quoted(task.source));
  const auto& form = task.rate.one_gpu.form();
  if (form.index() > 0) text += fmt::format("curve = \"{}\"\n", kCurveForms[form.index()]);
  if (const auto* const curve = std::get_if<Saturating>(&form)) {
    text += fmt::format("a = {:.6g}\nc = {:.6g}\n", curve->a, curve->c);
  } else if (const auto* const table = std::get_if<RateTable>(&form)) {
    text += fmt::format("batches = [{:.6g}]\nrates = [{:.6g}]\n", fmt::join(table->batches, ", "),
                        fmt::join(table->rates, ", "));
  } else {
    const auto* const parabola = std::get_if<Quadratic>(&form);
    text += fmt::format(
        "k = [{:.6g}]\n",
        fmt::join(parabola != nullptr ? parabola->k : std::get<QuadraticLog>(form).k, ", "));
  }
  const Comm& comm = task.rate.comm;
  if (comm.gamma > 0) {
    if (comm.form != Comm::Form::nodiv) {
      text += fmt::format("comm = \"{}\"\n", kCommForms[static_cast<std::size_t>(comm.form)]);
    }
    text += fmt::format("gamma = {:.6g}\nlambda = {:.6g}\n", comm.gamma, comm.lambda);
  }
  return text + fmt::format("most_batch = {:.6g}\n{}", task.most_batch, errors_of(task.error));
}

}  // namespace

std::string to_toml(const Catalogue& catalogue) {
  std::string text;
  const bool any_task =
      std::any_of(catalogue.models.begin(), catalogue.models.end(),
                  [](const Model& model) { return model.training || model.inference; });
  if (any_task) {
    text += fmt::format("[genie]\nstartup_s = {:.4g}\ntheta = {:.4g}\n\n", catalogue.startup_s,
                        catalogue.theta);
  }
  for (const GpuClass& gpu : catalogue.gpus) text += to_toml(gpu) + "\n";
  for (const Model& model : catalogue.models) {
    text += fmt::format("[[model]]\nname = {}\n", quoted(model.name));
    if (!model.kind.empty()) text += fmt::format("kind = {}\n", quoted(model.kind));
    if (model.input) text += to_toml(*model.input);
    for (const Board& board : model.boards) text += to_toml(board);
    if (model.training) text += to_toml("training", *model.training);
    if (model.inference) text += to_toml("inference", *model.inference);
    text += "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace almanac::perf
