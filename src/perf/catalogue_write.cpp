// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <sstream>

#include <fmt/format.h>
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
  return text;
}

}  // namespace

std::string to_toml(const Catalogue& catalogue) {
  std::string text;
  for (const GpuClass& gpu : catalogue.gpus) text += to_toml(gpu) + "\n";
  for (const Model& model : catalogue.models) {
    text += fmt::format("[[model]]\nname = {}\n", quoted(model.name));
    if (!model.kind.empty()) text += fmt::format("kind = {}\n", quoted(model.kind));
    if (model.input) text += to_toml(*model.input);
    for (const Board& board : model.boards) text += to_toml(board);
    text += "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace almanac::perf
