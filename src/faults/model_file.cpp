// SPDX-License-Identifier: Apache-2.0
#include "faults/model_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "faults/fit.h"
#include "stats/normal.h"
#include "table/stream.h"
#include "text/duration.h"
#include "text/nearest.h"
#include "text/toml_reader.h"

namespace almanac::faults {
namespace {

constexpr std::array<std::pair<std::string_view, Unit>, 5> kUnits = {{{"node", Unit::node},
                                                                      {"gpu", Unit::gpu},
                                                                      {"link", Unit::link},
                                                                      {"software", Unit::software},
                                                                      {"user", Unit::user}}};

/// What a count of failures was counted over.
struct Observed {
  double nodes = 0;
  double gpus = 8;  // per node
  double days = 0;
  double jobs = 1;

  double units(Unit unit) const {
    if (unit == Unit::user) return jobs;
    return unit == Unit::gpu || unit == Unit::software ? nodes * gpus : nodes;
  }
};

class Reader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  Model read(const toml::table& file) {
    allow(file, {"observed", "cause", "checkpoint", "restart", "retry", "lemons", "spares"});
    if (const toml::table* const from = table(file, "observed")) read_observed(*from);
    for (const toml::table* const from : tables(file, "cause")) read_cause(*from);
    if (made_.causes.empty()) {
      refuse(file.source(), "a failure model needs at least one [[cause]]");
    }
    if (const toml::table* const from = table(file, "checkpoint")) read_checkpoints(*from);
    take(file, "restart", made_.restart);
    if (const toml::table* const from = table(file, "retry")) {
      allow(*from, {"wait", "longest", "most"});
      take(*from, "wait", made_.retry.wait);
      take(*from, "longest", made_.retry.longest);
      made_.retry.most = static_cast<int>(whole(*from, "most", made_.retry.most, 1, 1e6));
    }
    // Without lemons the test could only take ordinary nodes for them.
    made_.lemons.test = false;
    if (const toml::table* const from = table(file, "lemons")) read_lemons(*from);
    made_.spares = static_cast<int>(whole(file, "spares", 0, 0, 1e6));
    made_.name = std::filesystem::path(path()).stem().string();
    return std::move(made_);
  }

 private:
  std::optional<double> number(const toml::table& from, const char* key, double least,
                               double most) {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_number()) refuse(*node, fmt::format("{} must be a number", key));
    const double value = text::toml_number(*node);
    // Not "value < least": NaN is in no range.
    if (!(value >= least && value <= most)) {
      refuse(*node, fmt::format("{} must be {} to {}, found {}", key, least, most, value));
    }
    return value;
  }

  double whole(const toml::table& from, const char* key, double missing, double least,
               double most) {
    const double value = number(from, key, least, most).value_or(missing);
    if (value != std::floor(value)) {
      refuse(*from.get(key), fmt::format("{} must be a whole number, found {}", key, value));
    }
    return value;
  }

  std::string word(const toml::table& from, const char* key) {
    const toml::node* const node = from.get(key);
    if (node == nullptr) refuse(from.source(), fmt::format("{} is missing", key));
    if (!node->is_string()) refuse(*node, fmt::format("{} must be a text in quotes", key));
    return node->as_string()->get();
  }

  void take(const toml::table& from, const char* key, Duration& value) {
    if (!from.contains(key)) return;
    const std::string text = word(from, key);
    const auto parsed = text::parse_duration(text);
    if (!parsed || *parsed < Duration{0} || *parsed > 10'000 * 24h) {
      refuse(*from.get(key),
             fmt::format("{} must be a time such as \"90s\", \"10m\" or \"2h\", found \"{}\"", key,
                         text));
    }
    value = *parsed;
  }

  void read_observed(const toml::table& from) {
    allow(from, {"nodes", "gpus", "days", "jobs"});
    observed_.nodes = number(from, "nodes", 1, 1e7).value_or(0);
    observed_.gpus = number(from, "gpus", 0, 1024).value_or(observed_.gpus);
    observed_.days = number(from, "days", 1e-3, 1e6).value_or(0);
    observed_.jobs = number(from, "jobs", 1e-3, 1e9).value_or(observed_.jobs);
    if (observed_.nodes == 0) refuse(from.source(), "nodes is missing");
    if (observed_.days == 0) refuse(from.source(), "days is missing");
  }

  void read_cause(const toml::table& from) {
    allow(from, {"name", "of", "count", "per_1000_days", "repair", "repair_p90", "notice"});
    Cause& cause = made_.causes.emplace_back();
    cause.name = word(from, "name");
    const bool known = std::any_of(made_.causes.begin(), made_.causes.end() - 1,
                                   [&](const Cause& each) { return each.name == cause.name; });
    if (known) refuse(*from.get("name"), fmt::format("cause {} appears twice", cause.name));
    cause.unit = unit_of(from);
    cause.per_day = rate_of(from, cause.unit);
    take(from, "repair", cause.repair);
    take(from, "notice", cause.notice);
    const bool is_of_job = cause.unit == Unit::software || cause.unit == Unit::user;
    for (const char* const key : {"repair", "repair_p90", "notice"}) {
      if (is_of_job && from.contains(key)) {
        refuse(*from.get(key), fmt::format("{} applies to node, gpu and link only", key));
      }
    }
    if (!from.contains("repair_p90")) return;
    Duration p90{0};
    take(from, "repair_p90", p90);
    if (cause.repair <= Duration{0} || p90 < cause.repair) {
      refuse(*from.get("repair_p90"), "repair_p90 must be at least repair, which is the median");
    }
    cause.spread = std::log(seconds(p90) / seconds(cause.repair)) / stats::normal_quantile(0.9);
  }

  Unit unit_of(const toml::table& from) {
    const std::string text = word(from, "of");
    for (const auto& [name, unit] : kUnits) {
      if (name == text) return unit;
    }
    refuse(*from.get("of"),
           fmt::format("of must be node, gpu, link, software or user, found \"{}\"", text));
  }

  double rate_of(const toml::table& from, Unit unit) {
    const auto count = number(from, "count", 0, 1e9);
    const auto rate = number(from, "per_1000_days", 0, 1e6);
    if (count.has_value() == rate.has_value()) {
      refuse(from.source(), "a cause has either count or per_1000_days");
    }
    if (rate) return *rate / 1000;
    if (observed_.days == 0) {
      refuse(*from.get("count"), "count requires the table [observed] with nodes and days");
    }
    return *count / (observed_.units(unit) * observed_.days);
  }

  void read_checkpoints(const toml::table& from) {
    allow(from, {"every", "write"});
    take(from, "write", made_.checkpoints.write);
    if (!from.contains("every") || word(from, "every") == "best") return;
    take(from, "every", made_.checkpoints.every);
    if (made_.checkpoints.every <= Duration{0}) {
      refuse(*from.get("every"), "every must be more than 0, or \"best\"");
    }
  }

  void read_lemons(const toml::table& from) {
    allow(from, {"share", "factor", "test", "replace"});
    Lemons& lemons = made_.lemons;
    lemons.share = number(from, "share", 0, 1).value_or(0);
    lemons.factor = number(from, "factor", 1, 1e6).value_or(lemons.factor);
    take(from, "replace", lemons.replace);
    lemons.test = lemons.share > 0;
    const toml::node* const test = from.get("test");
    if (test == nullptr) return;
    if (!test->is_boolean()) refuse(*test, "test must be true or false");
    lemons.test = test->as_boolean()->get();
  }

  Observed observed_;
  Model made_;
};

}  // namespace

Result<Model> parse_model(std::string_view text, const std::string& path) {
  return text::read_toml_text(text, path,
                              [&](const toml::table& file) { return Reader(path).read(file); });
}

Result<Model> read_model(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml")) {
    const Result<std::string> text = table::read_text_file(name_or_path);
    if (!text) return tl::unexpected(text.error());
    return parse_model(*text, name_or_path);
  }
  std::vector<std::string> known = {kFitted};
  for (const text::Preset& preset : presets()) {
    if (preset.name == name_or_path) return parse_model(preset.text, name_or_path + ".toml");
    known.emplace_back(preset.name);
  }
  return fail(Code::usage, fmt::format("no failure model is named \"{}\"", name_or_path), {},
              text::meant_or_known(name_or_path, known));
}

}  // namespace almanac::faults
