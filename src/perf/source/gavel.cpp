// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gavel's throughputs: steps per second by type and number of GPUs, on one node or spread, alone
/// or next to another job.
///
/// Source   Narayanan et al., OSDI'20, the artifact's simulation_throughputs.json: K80, P100, V100.
///          Steps of all workers together, each with the batch in the name.
/// Differs  The number of nodes of a spread job is not published; it is read as 2. Pairs are read
///          for jobs of one GPU, on one node.
#include <charconv>

#include <fmt/format.h>
#include <simdjson.h>

#include "perf/model_name.h"
#include "perf/source/source.h"

namespace almanac::perf::source {
namespace {

struct Name {
  std::string model;
  double batch;
  int gpus;
};

/// "('ResNet-18 (batch size 16)', 2)".
Name parse_name(std::string_view text, const std::string& path) {
  const auto refused = [&] {
    return Refused{{Code::invalid,
                    fmt::format("a job is written ('Model (batch size N)', GPUs): \"{}\"", text),
                    {path}}};
  };
  const std::size_t close = text.rfind("', ");
  if (!text.starts_with("('") || !text.ends_with(')') || close == std::string_view::npos) {
    throw refused();
  }
  Name name{.model = {}, .batch = 1, .gpus = 0};
  std::string_view gpus = text.substr(close + 3);
  std::from_chars(gpus.data(), gpus.data() + gpus.size(), name.gpus);
  std::string_view model = text.substr(2, close - 2);
  constexpr std::string_view kBatch = " (batch size ";
  if (const std::size_t at = model.find(kBatch); at != std::string_view::npos) {
    const std::string_view batch = model.substr(at + kBatch.size());
    std::from_chars(batch.data(), batch.data() + batch.size(), name.batch);
    model = model.substr(0, at);
  }
  name.model = model_name(model);
  if (name.gpus < 1 || !(name.batch >= 1) || name.model.empty()) throw refused();
  return name;
}

std::string upper(std::string_view type) {
  std::string made(type);
  for (char& letter : made) letter = static_cast<char>(std::toupper(letter));
  return made;
}

void read_type(std::string_view type, simdjson::dom::object jobs, const std::string& path,
               Profile& profile) {
  constexpr std::string_view kSpread = "_unconsolidated";
  const bool spread = type.ends_with(kSpread);
  if (spread) type.remove_suffix(kSpread.size());
  for (const auto& [job, speeds] : jobs) {
    const Name name = parse_name(job, path);
    if (spread && name.gpus == 1) continue;
    Measurement made;
    made.model = name.model;
    made.batch = name.batch * name.gpus;
    made.gpu_type = upper(type);
    made.gpus = name.gpus;
    made.nodes = spread ? 2 : 1;
    const simdjson::dom::object beside_whom = speeds;
    for (const auto& [beside, value] : beside_whom) {
      if (beside == "null") {
        made.neighbour.clear();
        made.throughput = double{value} * name.batch;
        if (made.throughput > 0) profile.rows.push_back(made);
      } else if (name.gpus == 1) {
        const Name neighbour = parse_name(beside, path);
        made.neighbour = neighbour.model;
        made.neighbour_batch = neighbour.batch;
        const simdjson::dom::array both = value;
        made.throughput = double{both.at(0)} * name.batch;
        profile.rows.push_back(made);
      }
    }
  }
}

}  // namespace

Profile read_gavel(const std::string& path, const std::string& text) {
  Profile profile{.source = "gavel", .rows = {}};
  simdjson::dom::parser parser;
  try {
    const simdjson::dom::object types = parser.parse(text);
    for (const auto& [type, jobs] : types) read_type(type, jobs, path, profile);
  } catch (const simdjson::simdjson_error& error) {
    throw Refused{{Code::invalid,
                   fmt::format("expected throughputs in Gavel's format: {}", error.what()),
                   {path}}};
  }
  return profile;
}

}  // namespace almanac::perf::source
