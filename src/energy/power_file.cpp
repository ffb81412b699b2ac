// SPDX-License-Identifier: Apache-2.0
#include "energy/power_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "table/stream.h"
#include "text/nearest.h"
#include "text/toml_reader.h"

namespace almanac::energy {
namespace {

struct Range {
  double least;
  double most;
};
constexpr double kMostWatts = 1e6;
constexpr double kDay = 86400;

Result<PowerModel> read_preset(const std::string& name) {
  std::vector<std::string> known;
  for (const text::Preset& preset : presets()) {
    if (preset.name == name) return parse_power(preset.text, name + ".toml");
    known.emplace_back(preset.name);
  }
  return fail(Code::usage, fmt::format("no power model is named \"{}\"", name), {},
              text::meant_or_known(name, known));
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

class Reader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  PowerModel read(const toml::table& file) {
    allow(file, {"extends", "gpus", "idle_w", "full_w", "booting_w", "asleep_w", "boot_s",
                 "suspend_s", "gpu", "facility"});
    const bool extends = file.contains("extends");
    if (extends) read_base(file);
    const toml::table* const gpu = table(file, "gpu");
    if (gpu == nullptr && !extends) refuse(file.source(), "a power model needs a table [gpu]");
    made_.gpus = static_cast<int>(whole(file, "gpus", made_.gpus, {1, 1024}, !extends));
    take(file, "idle_w", made_.idle_w, {0, kMostWatts}, !extends);
    if (!extends) made_.booting_w = made_.idle_w;
    take(file, "booting_w", made_.booting_w, {0, kMostWatts});
    take(file, "asleep_w", made_.asleep_w, {0, made_.idle_w});
    take(file, "boot_s", made_.boot_s, {0, kDay});
    take(file, "suspend_s", made_.suspend_s, {0, kDay});
    if (gpu != nullptr) read_gpu(*gpu);
    const double boards_w =
        made_.gpus * made_.gpu_limit_w * (made_.gpu_curve.full - made_.gpu_curve.idle);
    if (gpu != nullptr) made_.full_w = made_.idle_w + boards_w;
    take(file, "full_w", made_.full_w, {made_.idle_w, kMostWatts});
    if (made_.full_w < made_.idle_w) refuse(file.source(), "idle_w is above full_w");
    if (made_.asleep_w >= made_.idle_w) refuse(file.source(), "asleep_w must be below idle_w");
    if (const toml::table* const facility = table(file, "facility")) read_facility(*facility);
    made_.name = std::filesystem::path(path()).stem().string();
    return std::move(made_);
  }

 private:
  const toml::node* find(const toml::table& from, const char* key, bool needed) {
    const toml::node* const node = from.get(key);
    if (node == nullptr && needed) refuse(from.source(), fmt::format("{} is missing", key));
    return node;
  }

  void take(const toml::table& from, const char* key, double& value, Range range,
            bool needed = false) {
    const toml::node* const node = find(from, key, needed);
    if (node == nullptr) return;
    if (!node->is_number()) refuse(node->source(), fmt::format("{} must be a number", key));
    const double number = text::toml_number(*node);
    // Not "number < least": NaN is in no range.
    if (!(number >= range.least && number <= range.most)) {
      refuse(node->source(),
             fmt::format("{} must be {} to {}, found {}", key, range.least, range.most, number));
    }
    value = number;
  }

  double whole(const toml::table& from, const char* key, double missing, Range range, bool needed) {
    double number = missing;
    take(from, key, number, range, needed);
    if (number != std::floor(number)) {
      refuse(from.get(key)->source(),
             fmt::format("{} must be a whole number, found {}", key, number));
    }
    return number;
  }

  std::string word(const toml::table& from, const char* key, std::string missing, bool needed) {
    const toml::node* const node = find(from, key, needed);
    if (node == nullptr) return missing;
    if (!node->is_string()) refuse(node->source(), fmt::format("{} must be a text", key));
    return node->as_string()->get();
  }

  void read_base(const toml::table& file) {
    Result<PowerModel> base = read_preset(word(file, "extends", {}, true));
    if (!base) refuse(file.get("extends")->source(), base.error().message, base.error().hint);
    made_ = std::move(*base);
  }

  /// The table describes a board whole: nothing of another one is kept.
  void read_gpu(const toml::table& gpu) {
    allow(gpu, {"type", "limit_w", "least_limit_w", "idle", "full", "bend", "strain", "use"});
    made_.gpu_type = word(gpu, "type", {}, true);
    take(gpu, "limit_w", made_.gpu_limit_w, {1, kMostWatts}, true);
    PowerCurve& curve = made_.gpu_curve;
    take(gpu, "idle", curve.idle, {0, 0.99}, true);
    take(gpu, "full", curve.full, {curve.idle + 0.001, 1}, true);
    take(gpu, "bend", curve.bend, {0.1, 100}, true);
    take(gpu, "strain", curve.strain, {1, 100}, true);
    take(gpu, "least_limit_w", made_.gpu_least_limit_w, {0, made_.gpu_limit_w}, true);
    if (made_.gpu_least_limit_w <= curve.idle * made_.gpu_limit_w) {
      refuse(gpu.get("least_limit_w")->source(),
             fmt::format("least_limit_w must be above the idle draw, {} W",
                         curve.idle * made_.gpu_limit_w));
    }
    made_.gpu_use.clear();
    const toml::table* const uses = table(gpu, "use");
    if (uses == nullptr) return;
    for (const auto& [network, node] : *uses) {
      NetworkUse& use = made_.gpu_use.emplace_back(NetworkUse{std::string(network.str()), 1});
      take(*uses, use.network.c_str(), use.use, {0, 1});
    }
  }

  void read_facility(const toml::table& facility) {
    allow(facility, {"pue", "price_per_kwh", "currency", "kg_co2_per_kwh"});
    take(facility, "pue", made_.facility.pue, {1, 10});
    take(facility, "price_per_kwh", made_.facility.price_per_kwh, {0, 1e6});
    made_.facility.currency = word(facility, "currency", made_.facility.currency, false);
    take(facility, "kg_co2_per_kwh", made_.facility.kg_co2_per_kwh, {0, 10});
  }

  PowerModel made_;
};

}  // namespace

Result<PowerModel> parse_power(std::string_view text, const std::string& path) {
  return text::read_toml_text(text, path,
                              [&](const toml::table& file) { return Reader(path).read(file); });
}

Result<PowerModel> read_power(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml")) {
    const Result<std::string> text = table::read_text_file(name_or_path);
    if (!text) return tl::unexpected(text.error());
    return parse_power(*text, name_or_path);
  }
  return read_preset(name_or_path);
}

std::string gpu_to_toml(const PowerModel& model) {
  const PowerCurve& curve = model.gpu_curve;
  std::string text = fmt::format(
      "[gpu]\ntype = {}\nlimit_w = {}\nleast_limit_w = {}\n"
      "idle = {}\nfull = {}\nbend = {}\nstrain = {}\n",
      quoted(model.gpu_type), model.gpu_limit_w, model.gpu_least_limit_w, curve.idle, curve.full,
      curve.bend, curve.strain);
  if (!model.gpu_use.empty()) text += "[gpu.use]\n";
  for (const NetworkUse& use : model.gpu_use) {
    text += fmt::format("{} = {}\n", quoted(use.network), use.use);
  }
  return text;
}

std::string to_toml(const PowerModel& model) {
  const Facility& facility = model.facility;
  return fmt::format(
      "gpus = {}\nidle_w = {}\nfull_w = {}\nbooting_w = {}\nasleep_w = {}\nboot_s = {}\n"
      "suspend_s = {}\n\n{}\n[facility]\npue = {}\nprice_per_kwh = {}\ncurrency = {}\n"
      "kg_co2_per_kwh = {}\n",
      model.gpus, model.idle_w, model.full_w, model.booting_w, model.asleep_w, model.boot_s,
      model.suspend_s, gpu_to_toml(model), facility.pue, facility.price_per_kwh,
      quoted(facility.currency), facility.kg_co2_per_kwh);
}

}  // namespace almanac::energy
