// SPDX-License-Identifier: Apache-2.0
#include "study/norms.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "text/toml_file.h"
#include "text/toml_reader.h"

namespace almanac::study {
namespace {

constexpr const char* kShield = "Job Defense Shield";
constexpr const char* kOurs = "ours";
constexpr const char* kStrong = "strong_gpus";

class NormsReader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  Norms read(const toml::table& file) {
    const toml::table* const efficiency = table(file, "efficiency");
    if (efficiency == nullptr) return read_keys(file);
    allow(file, {"efficiency"});
    allow(*efficiency, {"norms"});
    const toml::table* const norms = table(*efficiency, "norms");
    return norms == nullptr ? Norms{} : read_keys(*norms);
  }

 private:
  Norms read_keys(const toml::table& file) const {
    std::vector<std::string> keys{kStrong};
    for (const Norm& each : known_norms()) keys.emplace_back(each.key);
    allow(file, keys);
    Norms made;
    for (const Norm& each : known_norms()) {
      const toml::node* const node = file.get(each.key);
      if (node == nullptr) continue;
      const auto value = node->value<double>();
      if (!node->is_number() || !value || !(*value >= 0)) {
        refuse(*node, fmt::format("{} must be a number, 0 or more", each.key));
      }
      made.*each.value = *value;
    }
    if (const toml::node* const node = file.get(kStrong)) made.strong_gpus = texts(*node);
    return made;
  }

  std::vector<std::string> texts(const toml::node& node) const {
    std::vector<std::string> made;
    if (!node.is_array()) refuse(node, fmt::format("{} must be a list of GPU types", kStrong));
    for (const toml::node& each : *node.as_array()) {
      const auto text = each.value_exact<std::string>();
      if (!text) refuse(each, fmt::format("{} must be a list of GPU types", kStrong));
      made.push_back(*text);
      // Types are compared in lower case.
      std::transform(text->begin(), text->end(), made.back().begin(),
                     [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    }
    return made;
  }
};

}  // namespace

const std::vector<Norm>& known_norms() {
  static const std::vector<Norm> all{
      {"shortest_min", &Norms::shortest_min, "minutes; shorter runs are ignored", kOurs},
      {"gpu_hours", &Norms::gpu_hours, "least GPU-hours of a user's jobs for an alert", kShield},
      {"low_gpu_use", &Norms::low_gpu_use, "share of the time; GPU use up to this is low", kShield},
      {"cores_per_gpu", &Norms::cores_per_gpu, "cores; more per GPU are too many", kOurs},
      {"cores_used", &Norms::cores_used, "share; jobs that use more of their cores may have them",
       kShield},
      {"memory_gb_per_gpu", &Norms::memory_gb_per_gpu, "GB; more per GPU is too much", kShield},
      {"memory_used", &Norms::memory_used, "share; jobs that use more of their memory may have it",
       kShield},
      {"small_gpu_use", &Norms::small_gpu_use,
       "share of the time; with up to this, a smaller GPU is enough", kShield},
      {"small_gpu_memory_gb", &Norms::small_gpu_memory_gb,
       "GB of GPU memory that a smaller GPU has", kShield},
      {"small_memory_gb", &Norms::small_memory_gb, "GB of memory next to a smaller GPU", kShield},
      {"limit_used", &Norms::limit_used, "share; with up to this, a time limit is too long",
       kShield}};
  return all;
}

Result<Norms> read_norms(const std::string& path) {
  return text::read_toml_file<NormsReader>(path);
}

}  // namespace almanac::study
