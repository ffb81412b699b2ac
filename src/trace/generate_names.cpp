// SPDX-License-Identifier: Apache-2.0
#include "trace/generate_names.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/rng.h"

namespace almanac::trace {
namespace {

constexpr std::array<std::string_view, 24> kModels = {
    "resnet",    "mobilenet", "vgg",        "bert",      "gpt",     "transformer",
    "unet",      "yolo",      "rcnn",       "retinanet", "deeplab", "lstm",
    "gan",       "vae",       "pointnet",   "dqn",       "ppo",     "wavenet",
    "hourglass", "densenet",  "shufflenet", "slowfast",  "arcface", "pspnet"};
constexpr std::array<std::string_view, 20> kTasks = {
    "train", "finetune", "detect", "segment", "track",    "pose", "face",
    "ocr",   "reid",     "search", "distill", "prune",    "eval", "pretrain",
    "video", "speech",   "debug",  "sweep",   "ablation", "bench"};

}  // namespace

std::string job_name(std::uint64_t stem, std::int64_t version) {
  Rng rng(stem);
  const std::string_view model = kModels[rng.below(kModels.size())];
  const std::string_view task = kTasks[rng.below(kTasks.size())];
  return fmt::format("{}_{}_{:02x}_v{}", model, task, rng.below(256), version + 1);
}

}  // namespace almanac::trace
