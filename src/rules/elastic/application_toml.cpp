// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "rules/elastic/application_file.h"
#include "rules/elastic/step_fit.h"
#include "table/stream.h"
#include "text/toml_reader.h"

namespace almanac::elastic {
namespace {

namespace fs = std::filesystem;

class ApplicationReader : public text::TomlReader {
 public:
  using TomlReader::TomlReader;

  Applications read(const toml::table& file) const {
    allow(file, {"application"});
    Applications made;
    for (const toml::table* const each : tables(file, "application")) {
      Application application = read_one(*each);
      const std::string name = application.name;
      if (!made.emplace(name, std::move(application)).second) {
        refuse(*each, fmt::format("two applications are named {}", name));
      }
    }
    if (made.empty()) refuse(file, "the file has no [[application]]");
    return made;
  }

 private:
  Application read_one(const toml::table& from) const {
    allow(from, {"name", "batch", "max_batch", "local_batch", "steps", "pass_s", "within_s",
                 "across_s", "overlap", "gradient"});
    const toml::node* const name = from.get("name");
    if (name == nullptr || !name->is_string()) refuse(from, "an application needs a name");
    Application made{.name = name->as_string()->get()};
    made.initial_batch = whole(from, "batch");
    made.max_batch =
        from.get("max_batch") == nullptr ? made.initial_batch : whole(from, "max_batch");
    if (made.max_batch < made.initial_batch) {
      refuse(*from.get("max_batch"), "max_batch must not be below batch");
    }
    const auto local = pair(from, "local_batch", {1, static_cast<double>(made.max_batch)});
    made.min_local_batch = static_cast<int>(local[0]);
    made.max_local_batch = static_cast<int>(local[1]);
    if (made.min_local_batch < 1 || made.max_local_batch < made.min_local_batch) {
      refuse(*from.get("local_batch"),
             "local_batch must be the smallest, 1 or more, and the largest");
    }
    const auto pass = pair(from, "pass_s", {});
    const auto within = pair(from, "within_s", {0, 0});
    const auto across = pair(from, "across_s", {0, 0});
    if (!(pass[0] + pass[1] > 0)) refuse(*from.get("pass_s"), "a pass must take some time");
    const toml::node* const overlap = from.get("overlap");
    const double power = overlap == nullptr ? 1 : number(*overlap, "overlap");
    if (power < 1) refuse(*overlap, "overlap must be 1 or more");
    made.steps.otherwise({.compute = pass[0],
                          .compute_per_sample = pass[1],
                          .across = across[0],
                          .across_per_gpu = across[1],
                          .within = within[0],
                          .within_per_gpu = within[1],
                          .overlap = power});
    add_epochs(from, made);
    return made;
  }

  /// Epochs of as much progress each.
  void add_epochs(const toml::table& from, Application& made) const {
    const double steps = whole(from, "steps");
    std::vector<Gradient> gradients;
    const toml::node* const told = from.get("gradient");
    if (told == nullptr) {
      gradients.push_back({.sqr = 1, .var = 0});
    } else if (!told->is_array() || told->as_array()->empty()) {
      refuse(*told, kGradient);
    } else {
      for (const toml::node& each : *told->as_array()) {
        const auto numbers = two(each, kGradient);
        if (!(numbers[0] + numbers[1] > 0)) refuse(each, kGradient);
        gradients.push_back({.sqr = numbers[0], .var = numbers[1]});
      }
    }
    made.completion_epoch = static_cast<int>(gradients.size()) - 1;
    for (const int batch : {made.initial_batch, made.max_batch}) {
      std::vector<EpochRow>& rows = made.validated[batch];
      rows.clear();
      EpochRow row;
      for (const Gradient gradient : gradients) {
        const double progress = steps / static_cast<double>(gradients.size());
        row.progress += progress;
        row.iteration += progress / step_gain(gradient, batch, made.initial_batch);
        row.gradient = gradient;
        rows.push_back(row);
      }
    }
  }

  static constexpr const char* kGradient =
      "gradient must be a list of its squared norm and variance in each epoch: [[1, 0], [0.5, 2]]";

  double number(const toml::node& node, const char* key) const {
    const double value = text::toml_number(node);
    if (!(std::isfinite(value) && value >= 0)) {
      refuse(node, fmt::format("{} must be a number of 0 or more", key));
    }
    return value;
  }
  int whole(const toml::table& from, const char* key) const {
    const toml::node* const node = from.get(key);
    if (node == nullptr) refuse(from, fmt::format("an application needs {}", key));
    const auto value = node->value<std::int64_t>();
    if (!node->is_integer() || *value < 1 || *value > 1'000'000'000) {
      refuse(*node, fmt::format("{} must be a whole number from 1 to a billion", key));
    }
    return static_cast<int>(*value);
  }
  std::vector<double> two(const toml::node& node, const std::string& message) const {
    const toml::array* const list = node.as_array();
    if (list == nullptr || list->size() != 2) refuse(node, message);
    return {number((*list)[0], "it"), number((*list)[1], "it")};
  }
  /// Two numbers; `usual` where they are missing, and none is needed.
  std::vector<double> pair(const toml::table& from, const char* key,
                           std::vector<double> usual) const {
    const toml::node* const node = from.get(key);
    if (node != nullptr) return two(*node, fmt::format("{} must be two numbers", key));
    if (usual.empty()) refuse(from, fmt::format("an application needs {}", key));
    return usual;
  }
};

/// Fits a model to all measurements, for the step times that were not measured.
void fill_gaps(Application& application) {
  std::vector<Observation> seen;
  application.steps.each_measured([&](std::uint64_t shape, double local, const StepTime& time) {
    Observation each{.nodes = 0, .gpus = 0, .atomic_batch = static_cast<int>(local), .time = time};
    for (; shape > 0; shape /= 10) {
      ++each.nodes;
      each.gpus += static_cast<int>(shape % 10);
    }
    seen.push_back(each);
  });
  application.steps.otherwise(fit_steps(seen));
}

}  // namespace

Result<Applications> read_elastic(const std::string& path) {
  const fs::path published = fs::path(path) / "elastic" / "pollux";
  if (fs::is_directory(published)) {
    auto made = read_applications((published / "applications.json").string(), published.string(),
                                  (fs::path(path) / "profiles" / "adaptdl").string());
    if (!made) return made;
    for (auto& [name, application] : *made) fill_gaps(application);
    return made;
  }
  if (fs::is_directory(path)) {
    return fail(Code::not_found,
                fmt::format("expected elastic/pollux and profiles/adaptdl in the folder {}", path),
                {}, "give a TOML file of applications, or the data of almanac reproduce");
  }
  const auto text = table::read_text_file(path);
  if (!text) return tl::unexpected(text.error());
  return text::read_toml_text(
      *text, path, [&](const toml::table& file) { return ApplicationReader(path).read(file); });
}

}  // namespace almanac::elastic
