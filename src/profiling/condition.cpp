// SPDX-License-Identifier: Apache-2.0
#include "profiling/condition.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

namespace almanac::profiling {
namespace {

/// Placeholders and their values; the environment has them in capitals.
std::vector<std::pair<std::string, std::string>> values_of(const Condition& condition) {
  return {{"batch", fmt::format("{}", condition.batch)},
          {"batch_per_gpu", fmt::format("{}", condition.batch / condition.gpus)},
          {"gpus", fmt::format("{}", condition.gpus)},
          {"cpus", fmt::format("{}", condition.cpus)},
          {"memory_gb", condition.memory_gb > 0 ? fmt::format("{}", condition.memory_gb) : ""}};
}

std::string counted(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string to_string(const Condition& condition) {
  std::string text = fmt::format("batch {}, {}, {}", condition.batch,
                                 counted(condition.gpus, "GPU"), counted(condition.cpus, "core"));
  if (condition.memory_gb > 0) text += fmt::format(", {} GB", condition.memory_gb);
  if (condition.beside) text += ", next to a neighbor";
  return text;
}

bool CommandLine::names(const std::string& placeholder) const {
  return std::any_of(words_.begin(), words_.end(), [&](const std::string& word) {
    return word.find("{" + placeholder + "}") != std::string::npos;
  });
}

std::vector<std::string> CommandLine::fill(const Condition& condition) const {
  std::vector<std::string> filled = words_;
  for (std::string& word : filled) {
    for (const auto& [name, value] : values_of(condition)) {
      const std::string hole = "{" + name + "}";
      for (std::size_t at = word.find(hole); at != std::string::npos;
           at = word.find(hole, at + value.size())) {
        word.replace(at, hole.size(), value);
      }
    }
  }
  return filled;
}

std::vector<std::pair<std::string, std::string>> CommandLine::environment(
    const Condition& condition) {
  std::vector<std::pair<std::string, std::string>> made = values_of(condition);
  for (auto& [name, value] : made) {
    name.insert(0, "ALMANAC_");
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }
  return made;
}

std::string CommandLine::subject() const {
  constexpr std::array<std::string_view, 4> kScripts{".py", ".sh", ".jl", ".lua"};
  for (const std::string& word : words_) {
    const std::filesystem::path path(word);
    const bool script =
        std::find(kScripts.begin(), kScripts.end(), path.extension().string()) != kScripts.end();
    if (script && !path.stem().empty()) return path.stem().string();
  }
  return std::filesystem::path(words_.front()).stem().string();
}

}  // namespace almanac::profiling
