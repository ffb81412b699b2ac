// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/model.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <toml++/toml.h>

#include "base/check.h"
#include "inference/profile/named.h"
#include "table/stream.h"
#include "text/preset.h"
#include "text/toml_reader.h"

namespace almanac::inference {

namespace models {
std::span<const text::Preset> presets();
}

namespace {

template <typename Of>
double sum(const std::vector<Layers>& all, const Of& of) {
  return std::accumulate(all.begin(), all.end(), 0.0, [&](double so_far, const Layers& each) {
    return so_far + each.count * of(each);
  });
}

/// A model file: names, and the fields of a config.json.
struct ModelFile {
  std::string name;
  std::vector<std::string> aliases;
  nlohmann::json config;
};

nlohmann::json to_json(const toml::node& node) {
  if (const auto* const table = node.as_table()) {
    nlohmann::json made = nlohmann::json::object();
    for (const auto& [key, value] : *table) made[std::string(key.str())] = to_json(value);
    return made;
  }
  if (const auto* const array = node.as_array()) {
    nlohmann::json made = nlohmann::json::array();
    for (const toml::node& each : *array) made.push_back(to_json(each));
    return made;
  }
  if (const auto* const text = node.as_string()) return text->get();
  if (const auto* const flag = node.as_boolean()) return flag->get();
  if (const auto* const whole = node.as_integer()) return whole->get();
  return node.value_or(0.0);
}

class ModelReader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  ModelFile read(const toml::table& file) {
    allow(file, {"aliases", "config"});
    const toml::table* const config = table(file, "config");
    if (config == nullptr) {
      refuse(file, "a model file needs a table [config] with the fields of its config.json");
    }
    ModelFile made{.name = std::filesystem::path(path()).stem().string(),
                   .aliases = {},
                   .config = to_json(*config)};
    if (const toml::array* const aliases = file["aliases"].as_array()) {
      for (const toml::node& each : *aliases) {
        if (!each.is_string()) refuse(each, "aliases must be a list of texts");
        made.aliases.push_back(in_lower_case(each.as_string()->get()));
      }
    }
    return made;
  }
};

Result<ModelFile> read_file_text(std::string_view text, const std::string& path) {
  return text::read_toml_text(
      text, path, [&](const toml::table& file) { return ModelReader(path).read(file); });
}

const std::vector<ModelFile>& built_in() {
  static const std::vector<ModelFile> made = [] {
    std::vector<ModelFile> all;
    for (const text::Preset& each : models::presets()) {
      auto one = read_file_text(each.text, std::string(each.name) + ".toml");
      ALMANAC_CHECK(one, "{}", to_string(one.error()));
      all.push_back(std::move(*one));
    }
    return all;
  }();
  return made;
}

}  // namespace

int Model::layer_count() const {
  return static_cast<int>(sum(layers, [](const Layers&) { return 1.0; }));
}

bool Model::has_experts() const {
  return std::any_of(layers.begin(), layers.end(),
                     [](const Layers& each) { return each.experts > 0; });
}

double Model::weights() const {
  return embedding + head + rest + sum(layers, [](const Layers& each) {
           return each.attention + each.dense + each.router + each.small +
                  each.experts * each.expert;
         });
}

double Model::active_weights() const {
  return weights() -
         sum(layers, [](const Layers& each) { return (each.experts - each.chosen) * each.expert; });
}

double Model::bytes(int copies) const {
  return 2 * copies * (embedding + head + rest) + sum(layers, [&](const Layers& each) {
           return copies * (attention.bytes * each.attention + dense.bytes * each.dense +
                            2 * (each.router + each.small)) +
                  experts.bytes * each.experts * each.expert;
         });
}

double Model::kv_bytes(int gpus) const {
  return kv_number_bytes * sum(layers, [&](const Layers& each) {
           const int copies_of = (each.kv_parts + gpus - 1) / gpus * gpus;
           return each.kv * copies_of / each.kv_parts;
         });
}

double Model::state_bytes() const {
  return sum(layers, [](const Layers& each) { return each.state_bytes; });
}

Result<Model> find_model(std::string_view name) {
  const auto found = find_named(built_in(), name);
  if (!found) {
    return no_such("model", name, built_in(),
                   "almanac help serving lists all; any other model: the path of its config.json");
  }
  auto made = parse_model((*found)->config.dump(), (*found)->name);
  if (!made) return made;
  for (const std::string& alias : (*found)->aliases) {
    if (made->repository.empty() && alias.find('/') != std::string::npos) made->repository = alias;
  }
  return made;
}

Result<Model> parse_model_file(std::string_view text, const std::string& path) {
  const auto file = read_file_text(text, path);
  if (!file) return tl::unexpected(file.error());
  auto made = parse_model(file->config.dump(), path);
  if (made) made->name = file->name;
  return made;
}

Result<Model> load_model(const std::string& name_or_path) {
  std::error_code ignored;  // a path that cannot be looked at is no folder
  if (name_or_path.ends_with(".json")) return read_model(name_or_path);
  if (!name_or_path.ends_with(".toml")) {
    auto named = find_model(name_or_path);
    if (named || !std::filesystem::is_directory(name_or_path, ignored)) return named;
    return fail(
        Code::invalid, "expected a model's name or file, found a folder", {.file = name_or_path},
        fmt::format("give {}", (std::filesystem::path(name_or_path) / "config.json").string()));
  }
  const Result<std::string> content = table::read_text_file(name_or_path);
  if (!content) return tl::unexpected(content.error());
  return parse_model_file(*content, name_or_path);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelFile& each : built_in()) names.push_back(each.name);
  return names;
}

}  // namespace almanac::inference
