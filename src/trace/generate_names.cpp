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

constexpr std::array<std::string_view, 12> kHostWorks = {
    "preprocess", "extract", "convert", "index", "crawl",  "merge",
    "dedupe",     "shuffle", "report",  "build", "backup", "simulate"};
constexpr std::array<std::string_view, 8> kData = {"text",  "images", "audio",  "video",
                                                   "graph", "logs",   "tables", "labels"};

/// Two words of the lists, and a mark.
template <typename First, typename Second>
std::string drawn(const First& first, const Second& second, std::uint64_t stem,
                  std::int64_t version) {
  Rng rng(stem);
  const std::string_view one = first[rng.below(first.size())];
  const std::string_view other = second[rng.below(second.size())];
  return fmt::format("{}_{}_{:02x}_v{}", one, other, rng.below(256), version + 1);
}

}  // namespace

std::string job_name(std::uint64_t stem, std::int64_t version) {
  return drawn(kModels, kTasks, stem, version);
}

std::string job_name(std::uint64_t stem, std::int64_t version, std::string_view model) {
  return drawn(std::array{model}, kTasks, stem, version);
}

std::string cpu_job_name(std::uint64_t stem, std::int64_t version) {
  return drawn(kHostWorks, kData, stem, version);
}

}  // namespace almanac::trace
