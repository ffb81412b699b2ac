// SPDX-License-Identifier: Apache-2.0
#include "perf/model_name.h"

#include <array>
#include <cctype>

namespace almanac::perf {
namespace {

struct Alias {
  std::string_view published;  ///< As bare_name() gives it.
  std::string_view model;
};

/// Synergy, AdaptDL and Zeus name by short forms, by data set or by version. Sources:
/// docs/guide/perf.md, docs/guide/energy.md.
constexpr std::array kAliases{
    Alias{"res18", "resnet-18"},
    Alias{"cifar10", "resnet-18"},
    Alias{"resnet18", "resnet-18"},
    Alias{"res50", "resnet-50"},
    Alias{"imagenet", "resnet-50"},
    Alias{"resnet50", "resnet-50"},
    Alias{"lstm", "lm"},
    Alias{"deepspeech", "deepspeech2"},
    Alias{"llama7", "llama-7b"},
    Alias{"llama30", "llama-30b"},
    Alias{"bertbaseuncased", "bert"},
    Alias{"shufflenetv2", "shufflenet"},
};

struct Kind {
  std::string_view model;
  std::string_view kind;
};

constexpr std::array kKinds{
    Kind{"alexnet", "image"},
    Kind{"shufflenet", "image"},
    Kind{"resnet-18", "image"},
    Kind{"resnet-50", "image"},
    Kind{"mobilenet", "image"},
    Kind{"yolov3", "image"},
    Kind{"vit", "image"},
    Kind{"cyclegan", "image"},
    Kind{"googlenet", "image"},
    Kind{"inception-v3", "image"},
    Kind{"m5", "speech"},
    Kind{"deepspeech2", "speech"},
    Kind{"gnmt", "language"},
    Kind{"transformer", "language"},
    Kind{"lm", "language"},
    Kind{"regularized-lstm", "language"},
    Kind{"seq2seq", "language"},
    Kind{"bert", "language"},
    Kind{"roberta", "language"},
    Kind{"gpt2", "language"},
    Kind{"t5", "language"},
    Kind{"llama-7b", "language"},
    Kind{"llama-30b", "language"},
    Kind{"ncf", "recommendation"},
    Kind{"recommendation", "recommendation"},
    Kind{"a3c", "games"},
};

}  // namespace

std::string bare_name(std::string_view name) {
  std::string bare;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0) bare += static_cast<char>(std::tolower(byte));
  }
  return bare;
}

bool contains(const std::string& longer, const std::string& name) {
  if (name.empty()) return false;
  for (std::size_t at = longer.find(name); at != std::string::npos;
       at = longer.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool digit = end < longer.size() && std::isdigit(static_cast<unsigned char>(longer[end]));
    if (!digit || !std::isdigit(static_cast<unsigned char>(name.back()))) return true;
  }
  return false;
}

std::string model_name(std::string_view published) {
  const std::string bare = bare_name(published);
  for (const Alias& alias : kAliases) {
    if (alias.published == bare) return std::string(alias.model);
  }
  std::string lower;
  for (const char letter : published) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return lower;
}

std::string_view kind_of(std::string_view model) {
  for (const Kind& known : kKinds) {
    if (known.model == model) return known.kind;
  }
  return {};
}

}  // namespace almanac::perf
