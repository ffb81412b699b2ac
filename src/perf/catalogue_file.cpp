// SPDX-License-Identifier: Apache-2.0
#include "perf/catalogue_file.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "perf/measured.h"
#include "perf/measurement.h"
#include "table/stream.h"
#include "text/nearest.h"
#include "text/toml_reader.h"

namespace almanac::perf {
namespace {

struct Range {
  double least;
  double most;
};
constexpr Range kAboveZero{1e-12, 1e12};
constexpr Range kFromZero{0, 1e12};
constexpr Range kPower{-10, 10};

class Reader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  Catalogue read(const toml::table& file) {
    allow(file, {"gpu", "model", "genie"});
    Catalogue made;
    if (const toml::table* const genie = table(file, "genie")) {
      allow(*genie, {"startup_s", "theta"});
      made.startup_s = number(*genie, "startup_s", kFromZero);
      if (genie->contains("theta")) made.theta = number(*genie, "theta", kFromZero);
    }
    for (const toml::table* const gpu : tables(file, "gpu")) made.gpus.push_back(read_gpu(*gpu));
    for (const toml::table* const model : tables(file, "model")) {
      made.models.push_back(read_model(*model));
      if (made.find(made.models.back().name) != &made.models.back()) {
        refuse(*model, fmt::format("{} is listed twice", made.models.back().name));
      }
    }
    if (made.models.empty()) refuse(file.source(), "the file has no [[model]]");
    return made;
  }

 private:
  double number(const toml::table& from, const char* key, Range range) {
    const toml::node* const node = from.get(key);
    if (node == nullptr) refuse(from.source(), fmt::format("{} is missing", key));
    if (!node->is_number()) refuse(node->source(), fmt::format("{} must be a number", key));
    const double value = text::toml_number(*node);
    // Not "value < least": NaN is in no range.
    if (!(value >= range.least && value <= range.most)) {
      refuse(node->source(),
             fmt::format("{} must be {} to {}, found {}", key, range.least, range.most, value));
    }
    return value;
  }

  /// Errors may be left out: a file by hand has none.
  double error(const toml::table& from, const char* key) {
    return from.contains(key) ? number(from, key, kFromZero) : kNotSaid;
  }

  std::string word(const toml::table& from, const char* key, bool needed) {
    const toml::node* const node = from.get(key);
    if (node == nullptr && !needed) return {};
    if (node == nullptr) refuse(from.source(), fmt::format("{} is missing", key));
    if (!node->is_string()) refuse(node->source(), fmt::format("{} must be a text", key));
    return node->as_string()->get();
  }

  GpuClass read_gpu(const toml::table& gpu) {
    allow(gpu, {"type", "speed", "error", "held_out", "sharing"});
    GpuClass made;
    made.type = word(gpu, "type", true);
    made.speed = number(gpu, "speed", kAboveZero);
    made.speed_error = {error(gpu, "error"), error(gpu, "held_out")};
    if (const toml::table* const sharing = table(gpu, "sharing")) {
      allow(*sharing,
            {"suffers", "suffers_power", "causes", "causes_power", "error", "held_out", "unseen"});
      const Sharing read = read_sharing(*sharing);
      made.sharing = {read.suffers, read.suffers_power, read.causes, read.causes_power};
      made.sharing_error = {error(*sharing, "error"), error(*sharing, "held_out")};
      made.sharing_unseen_error = error(*sharing, "unseen");
    }
    return made;
  }

  Sharing read_sharing(const toml::table& sharing) {
    return {.suffers = number(sharing, "suffers", kFromZero),
            .suffers_power = number(sharing, "suffers_power", kPower),
            .causes = number(sharing, "causes", kFromZero),
            .causes_power = number(sharing, "causes_power", kPower)};
  }

  Model read_model(const toml::table& model) {
    allow(model, {"name", "kind", "input", "board", "training", "inference"});
    Model made;
    made.name = word(model, "name", true);
    made.kind = word(model, "kind", false);
    if (const toml::table* const input = table(model, "input")) made.input = read_input(*input);
    for (const toml::table* const board : tables(model, "board")) {
      made.boards.push_back(read_board(*board));
      if (made.find(made.boards.back().gpu_type) != &made.boards.back()) {
        refuse(*board, fmt::format("{} is listed twice", made.boards.back().gpu_type));
      }
    }
    if (const toml::table* const task = table(model, "training")) made.training = read_task(*task);
    if (const toml::table* const task = table(model, "inference")) {
      made.inference = read_task(*task);
      if (made.inference->rate.comm.gamma > 0) {
        refuse(*task, "inference has no comm: remove gamma and lambda");
      }
    }
    return made;
  }

  Genie read_task(const toml::table& task) {
    allow(task, {"source", "curve", "a", "c", "k", "batches", "rates", "comm", "gamma", "lambda",
                 "most_batch", "error", "held_out"});
    Genie made;
    made.source = word(task, "source", false);
    made.error = {error(task, "error"), error(task, "held_out")};
    made.rate.one_gpu = read_curve(task);
    if (task.contains("most_batch")) made.most_batch = number(task, "most_batch", {1, 1e9});
    if (task.contains("gamma")) {
      made.rate.comm = {static_cast<Comm::Form>(choice(task, "comm", kCommForms)),
                        number(task, "gamma", kFromZero), number(task, "lambda", kFromZero)};
    }
    return made;
  }

  BatchCurve read_curve(const toml::table& task) {
    switch (choice(task, "curve", kCurveForms)) {
      case 0:
        return Saturating{number(task, "a", kAboveZero), number(task, "c", kFromZero)};
      case 1:
        return Quadratic{coefficients(task)};
      case 2:
        return QuadraticLog{coefficients(task)};
      default:
        break;
    }
    RateTable made{numbers(task, "batches"), numbers(task, "rates")};
    const bool rises = std::is_sorted(made.batches.begin(), made.batches.end(), std::less_equal());
    if (made.batches.empty() || !rises || made.batches.size() != made.rates.size()) {
      refuse(task, "a table needs ascending batches, and as many rates");
    }
    return made;
  }

  std::array<double, 3> coefficients(const toml::table& task) {
    const toml::array* const list = task["k"].as_array();
    if (list == nullptr || list->size() != 3) refuse(task, "k must be three numbers");
    std::array<double, 3> k{};
    for (std::size_t at = 0; at < 3; ++at) {
      const auto value = (*list)[at].value<double>();
      if (!value || !std::isfinite(*value)) refuse((*list)[at], "k must be three numbers");
      k[at] = *value;
    }
    return k;
  }

  std::vector<double> numbers(const toml::table& from, const char* key) {
    std::vector<double> made;
    const toml::array* const list = from[key].as_array();
    if (list == nullptr) refuse(from, fmt::format("{} must be a list of numbers", key));
    for (const toml::node& element : *list) {
      const auto value = element.value<double>();
      if (!value || !(*value > 0 && *value < 1e12)) {
        refuse(element, fmt::format("{} must be numbers above 0", key));
      }
      made.push_back(*value);
    }
    return made;
  }

  /// The position of the word under `key` among `words`; the first when there is none.
  std::size_t choice(const toml::table& from, const char* key,
                     std::span<const std::string_view> words) {
    if (!from.contains(key)) return 0;
    const std::string text = word(from, key, true);
    const auto at = std::find(words.begin(), words.end(), text);
    if (at == words.end()) {
      refuse(*from.get(key),
             fmt::format("{} must be one of {}, found \"{}\"", key, fmt::join(words, " "), text));
    }
    return static_cast<std::size_t>(at - words.begin());
  }

  Input read_input(const toml::table& input) {
    allow(input, {"source", "gpu_type", "enough_cpus", "power", "disk", "dataset_gb", "error",
                  "held_out"});
    return {.curve = {.enough_cpus = number(input, "enough_cpus", kAboveZero),
                      .power = number(input, "power", {0, 1}),
                      .disk = number(input, "disk", {1e-6, 1}),
                      .dataset_gb = number(input, "dataset_gb", kFromZero)},
            .source = word(input, "source", true),
            .gpu_type = word(input, "gpu_type", false),
            .error = {error(input, "error"), error(input, "held_out")}};
  }

  interleave::Phases read_phases(const toml::table& phases, const Board& board) {
    allow(phases, {"rollout", "training", "switching"});
    const interleave::Phases made{.rollout = number(phases, "rollout", kFromZero),
                                  .training = number(phases, "training", kFromZero),
                                  .switching = number(phases, "switching", kFromZero)};
    if (board.stages) refuse(phases.source(), "a board has stages or phases, not both");
    const double step_s = board.step.compute(board.usual_batch());
    if (std::abs(made.sum() - step_s) > 0.01 * step_s) {
      refuse(phases.source(),
             fmt::format("rollout and training must take as long as a step: {:.4g} "
                         "s by fixed and sample, found {:.4g} s",
                         step_s, made.sum()));
    }
    return made;
  }

  Board read_board(const toml::table& board) {
    allow(board, {"gpu_type", "source", "fixed", "sample", "local", "local_more", "remote",
                  "remote_more", "remote_spread", "overlap", "batch", "gpus", "error", "held_out",
                  "sharing", "stages", "phases"});
    Board made;
    made.gpu_type = word(board, "gpu_type", true);
    made.source = word(board, "source", true);
    made.step = {.fixed = number(board, "fixed", kFromZero),
                 .sample = number(board, "sample", kFromZero),
                 .local = number(board, "local", kFromZero),
                 .local_more = number(board, "local_more", kFromZero),
                 .remote = number(board, "remote", kFromZero),
                 .remote_more = number(board, "remote_more", kFromZero),
                 .remote_spread = number(board, "remote_spread", kFromZero),
                 .overlap = number(board, "overlap", {1, 100})};
    const toml::array* const batch = board["batch"].as_array();
    if (batch == nullptr || batch->size() != 2 || !(*batch)[0].is_number() ||
        !(*batch)[1].is_number()) {
      refuse(board.source(), "batch must be the smallest and the largest: batch = [16, 256]");
    }
    made.least_batch = text::toml_number((*batch)[0]);
    made.most_batch = text::toml_number((*batch)[1]);
    if (!(made.least_batch > 0 && made.most_batch >= made.least_batch && made.most_batch < 1e12)) {
      refuse(batch->source(), "batch must be two numbers above 0, the smaller one first");
    }
    if (made.step.compute(made.least_batch) <= 0) {
      refuse(board.source(), "a step must take time: fixed or sample above 0");
    }
    made.most_gpus = static_cast<int>(number(board, "gpus", {1, 1e6}));
    made.error = {error(board, "error"), error(board, "held_out")};
    if (const toml::table* const sharing = table(board, "sharing")) {
      allow(*sharing, {"suffers", "suffers_power", "causes", "causes_power"});
      made.sharing = read_sharing(*sharing);
    }
    if (const toml::table* const stages = table(board, "stages")) {
      allow(*stages, {"load", "compute", "network"});
      made.stages = {.load = number(*stages, "load", kFromZero),
                     .compute = number(*stages, "compute", kFromZero),
                     .network = number(*stages, "network", kFromZero)};
      if (made.stages->sum() <= 0) refuse(stages->source(), "the stages of a step must take time");
    }
    if (const toml::table* const phases = table(board, "phases")) {
      made.phases = read_phases(*phases, made);
    }
    return made;
  }
};

}  // namespace

Result<Catalogue> parse_catalogue(std::string_view text, const std::string& path) {
  return text::read_toml_text(text, path,
                              [&](const toml::table& file) { return Reader(path).read(file); });
}

Result<Catalogue> read_catalogue(const std::string& name_or_path) {
  if (name_or_path.find(".csv") != std::string::npos) {
    const Result<Profile> measured = read_profile(name_or_path);
    if (!measured) return tl::unexpected(measured.error());
    return as_measured(*measured, name_or_path);
  }
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml")) {
    const Result<std::string> text = table::read_text_file(name_or_path);
    if (!text) return tl::unexpected(text.error());
    return parse_catalogue(*text, name_or_path);
  }
  std::vector<std::string> known;
  for (const text::Preset& preset : presets()) {
    if (preset.name == name_or_path) return parse_catalogue(preset.text, name_or_path + ".toml");
    known.emplace_back(preset.name);
  }
  return fail(Code::usage, fmt::format("no speed models are named \"{}\"", name_or_path), {},
              text::meant_or_known(name_or_path, known));
}

}  // namespace almanac::perf
