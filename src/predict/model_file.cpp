// SPDX-License-Identifier: Apache-2.0
#include "predict/model_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "table/digest.h"
#include "table/output_file.h"
#include "table/stream.h"

namespace almanac::predict {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMagic = "almanac run time model, schema ";
constexpr int kSchema = 1;

Json feature_list() {
  Json names = Json::array();
  for (const FeatureName& each : feature_names()) names.push_back(each.name);
  return names;
}

/// Over all that decides a prediction, so that no part can be changed alone.
std::string digest(const Json& header, std::string_view trees) {
  Json covered = header;
  covered.erase("sha256");
  const std::string text = covered.dump(-1, ' ', false, Json::error_handler_t::replace);
  return table::sha256(text + "\n" + std::string(trees));
}

Json header_of(const Model& model, const Training& training, std::string_view trees) {
  const Model::Parts& parts = model.parts();
  const Calibration& found = parts.calibration;
  Json all = Json::array();
  for (std::size_t cell = 0; cell < Distribution::kCells; ++cell) {
    all.push_back(parts.all.mass(cell));
  }
  Json header{{"trace", training.trace},
              {"trace_sha256", training.sha256},
              {"from_ms", training.from.time_since_epoch().count()},
              {"to_ms", training.to.time_since_epoch().count()},
              {"jobs", training.jobs},
              {"features", feature_list()},
              {"edges", parts.edges},
              {"all", all},
              {"calibration",
               {found.nearby_weight, found.within_weight, found.typical_nearby_weight,
                found.typical_within_weight, found.half_width, found.interval, found.mean_error}},
              {"trees_bytes", trees.size()}};
  header["sha256"] = digest(header, trees);
  return header;
}

Result<StoredModel> parse(const std::string& path, const Json& header, std::string_view trees) {
  const auto corrupt = [&](std::string message) {
    return fail(Code::corrupt, std::move(message), {.file = path}, "train the model again");
  };
  if (header.at("trees_bytes").get<std::size_t>() != trees.size()) {
    return corrupt(fmt::format("the model is cut off: {} bytes of trees, expected {}", trees.size(),
                               header.at("trees_bytes").get<std::size_t>()));
  }
  if (header.at("sha256").get<std::string>() != digest(header, trees)) {
    return corrupt("the model is damaged: its SHA-256 does not match its content");
  }
  if (header.at("features") != feature_list()) {
    return fail(Code::unsupported, "the model looks at other features than this version of almanac",
                {.file = path}, "train the model again");
  }
  Model::Parts parts;
  parts.edges = header.at("edges").get<std::vector<std::size_t>>();
  const auto all = header.at("all").get<std::vector<float>>();
  const auto found = header.at("calibration").get<std::array<double, 7>>();
  if (all.size() != Distribution::kCells || parts.edges.size() < 3 ||
      parts.edges.back() != Distribution::kCells) {
    return corrupt("the model's classes make no sense");
  }
  for (std::size_t cell = 0; cell < all.size(); ++cell) parts.all.add_cell(cell, all[cell]);
  parts.calibration = {found[0], found[1], found[2], found[3], found[4], found[5], found[6]};
  auto grown = Boosted::load(trees, static_cast<int>(parts.edges.size()) - 1);
  if (!grown) return corrupt(grown.error().message);
  return StoredModel{.model = Model(std::move(*grown), std::move(parts)),
                     .training = {.trace = header.at("trace").get<std::string>(),
                                  .sha256 = header.at("trace_sha256").get<std::string>(),
                                  .from = Time(Duration(header.at("from_ms").get<std::int64_t>())),
                                  .to = Time(Duration(header.at("to_ms").get<std::int64_t>())),
                                  .jobs = header.at("jobs").get<std::int64_t>()}};
}

}  // namespace

Result<void> write_model(const std::string& path, const Model& model, const Training& training) {
  const std::string trees = model.trees().save();
  return table::write_file(
      path,
      fmt::format(
          "{}{}\n{}\n{}", kMagic, kSchema,
          header_of(model, training, trees).dump(-1, ' ', false, Json::error_handler_t::replace),
          trees));
}

Result<StoredModel> read_model(const std::string& path) {
  const auto content = table::read_file(path);
  if (!content) return tl::unexpected(content.error());
  const std::string_view bytes = *content;
  const std::size_t first = bytes.find('\n');
  if (!bytes.starts_with(kMagic) || first == std::string_view::npos) {
    return fail(Code::corrupt, "this is no model of almanac predict train", {.file = path});
  }
  const std::string_view schema = bytes.substr(kMagic.size(), first - kMagic.size());
  if (schema != fmt::format("{}", kSchema)) {
    return fail(Code::unsupported,
                fmt::format("the model is of schema {}, this version reads {}", schema, kSchema),
                {.file = path}, "train the model again");
  }
  const std::size_t second = bytes.find('\n', first + 1);
  const std::string_view trees =
      second == std::string_view::npos ? std::string_view{} : bytes.substr(second + 1);
  try {
    return parse(path, Json::parse(bytes.substr(first + 1, second - first - 1)), trees);
  } catch (const Json::exception&) {
    return fail(Code::corrupt, "the model's header is damaged", {.file = path, .line = 2},
                "train the model again");
  }
}

}  // namespace almanac::predict
