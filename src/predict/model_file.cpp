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
constexpr int kSchema = 2;

Json feature_list() {
  Json names = Json::array();
  for (const FeatureName& each : feature_names()) names.push_back(each.name);
  return names;
}

/// Over all that decides a prediction, so that no part can be changed alone.
std::string digest(const Json& header, std::string_view body) {
  Json covered = header;
  covered.erase("sha256");
  const std::string text = covered.dump(-1, ' ', false, Json::error_handler_t::replace);
  return table::sha256(text + "\n" + std::string(body));
}

std::string packed(std::span<const Remembered> history) {
  Json list = Json::array();
  for (const Remembered& each : history) {
    const Recent::Parts& parts = each.recent.parts();
    list.push_back({each.key, parts.count, parts.last.time_since_epoch().count(), parts.faded,
                    parts.unfulfilled, parts.logs});
  }
  std::string bytes;
  Json::to_cbor(list, bytes);
  return bytes;
}

/// Throws Json::exception if they are not such a list.
std::vector<Remembered> unpacked(std::string_view bytes) {
  const Json list = Json::from_cbor(bytes);
  std::vector<Remembered> history;
  for (const Json& each : list) {
    history.push_back({each.at(0).get<std::uint64_t>(),
                       Recent({.logs = each.at(5).get<std::array<float, Recent::kKept>>(),
                               .faded = each.at(3).get<float>(),
                               .unfulfilled = each.at(4).get<float>(),
                               .count = each.at(1).get<std::uint32_t>(),
                               .last = Time(Duration(each.at(2).get<std::int64_t>()))})});
  }
  return history;
}

Json header_of(const Model& model, const Training& training, std::size_t trees_bytes,
               std::string_view body) {
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
                found.typical_within_weight, found.half_width, found.interval, found.bound,
                found.mean_error}},
              {"trees_bytes", trees_bytes},
              {"body_bytes", body.size()}};
  header["sha256"] = digest(header, body);
  return header;
}

Result<StoredModel> parse(const std::string& path, const Json& header, std::string_view body) {
  const auto corrupt = [&](std::string message) {
    return fail(Code::corrupt, std::move(message), {.file = path}, "train the model again");
  };
  if (header.at("body_bytes").get<std::size_t>() != body.size()) {
    return corrupt(fmt::format("the model is cut off: {} bytes follow its header, expected {}",
                               body.size(), header.at("body_bytes").get<std::size_t>()));
  }
  if (header.at("sha256").get<std::string>() != digest(header, body)) {
    return corrupt("the model is damaged: its SHA-256 does not match its content");
  }
  if (header.at("features") != feature_list()) {
    return fail(Code::unsupported, "the model uses other features than this version of almanac",
                {.file = path}, "train the model again");
  }
  Model::Parts parts;
  parts.edges = header.at("edges").get<std::vector<std::size_t>>();
  const auto all = header.at("all").get<std::vector<float>>();
  const auto found = header.at("calibration").get<std::array<double, 8>>();
  if (all.size() != Distribution::kCells || parts.edges.size() < 3 ||
      parts.edges.back() != Distribution::kCells) {
    return corrupt("the model's classes are inconsistent");
  }
  for (std::size_t cell = 0; cell < all.size(); ++cell) parts.all.add_cell(cell, all[cell]);
  parts.calibration = {found[0], found[1], found[2], found[3],
                       found[4], found[5], found[6], found[7]};
  const std::size_t trees_bytes = header.at("trees_bytes").get<std::size_t>();
  if (trees_bytes > body.size()) return corrupt("the model's trees are longer than the file");
  auto grown = Boosted::load(body.substr(0, trees_bytes), static_cast<int>(parts.edges.size()) - 1);
  if (!grown) return corrupt(grown.error().message);
  return StoredModel{.model = Model(std::move(*grown), std::move(parts)),
                     .training = {.trace = header.at("trace").get<std::string>(),
                                  .sha256 = header.at("trace_sha256").get<std::string>(),
                                  .from = Time(Duration(header.at("from_ms").get<std::int64_t>())),
                                  .to = Time(Duration(header.at("to_ms").get<std::int64_t>())),
                                  .jobs = header.at("jobs").get<std::int64_t>()},
                     .history = unpacked(body.substr(trees_bytes)),
                     .sha256 = header.at("sha256").get<std::string>()};
}

}  // namespace

Result<void> write_model(const std::string& path, const Model& model, const Training& training,
                         std::span<const Remembered> history) {
  const std::string trees = model.trees().save();
  const std::string body = trees + packed(history);
  const Json header = header_of(model, training, trees.size(), body);
  return table::write_file(
      path, fmt::format("{}{}\n{}\n{}", kMagic, kSchema,
                        header.dump(-1, ' ', false, Json::error_handler_t::replace), body));
}

Result<StoredModel> read_model(const std::string& path) {
  const auto content = table::read_file(path);
  if (!content) return tl::unexpected(content.error());
  const std::string_view bytes = *content;
  const std::size_t first = bytes.find('\n');
  if (!bytes.starts_with(kMagic) || first == std::string_view::npos) {
    return fail(Code::corrupt, "not a model of almanac predict train", {.file = path});
  }
  const std::string_view schema = bytes.substr(kMagic.size(), first - kMagic.size());
  if (schema != fmt::format("{}", kSchema)) {
    return fail(Code::unsupported,
                fmt::format("the model has schema {}, but this version reads {}", schema, kSchema),
                {.file = path}, "train the model again");
  }
  const std::size_t second = bytes.find('\n', first + 1);
  const std::string_view body =
      second == std::string_view::npos ? std::string_view{} : bytes.substr(second + 1);
  try {
    return parse(path, Json::parse(bytes.substr(first + 1, second - first - 1)), body);
  } catch (const Json::exception&) {
    return fail(Code::corrupt, "the model's header is damaged", {.file = path, .line = 2},
                "train the model again");
  }
}

}  // namespace almanac::predict
