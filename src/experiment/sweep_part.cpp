// SPDX-License-Identifier: Apache-2.0
#include "experiment/sweep_part.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiment/run_directory.h"
#include "table/digest.h"
#include "table/output_file.h"
#include "table/stream.h"

namespace almanac::experiment {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Result<std::string> inputs_of(const SweepPlan& plan, const std::string& trace) {
  // A generated trace has no hash of its own: that of its workload file stands for it.
  const auto file = table::sha256_file(trace);
  if (!file) return tl::unexpected(file.error());
  const auto first = plan.prepare(plan.loads.front(), plan.seeds.front());
  if (!first) return tl::unexpected(first.error());
  const Json decided = {{"version", ALMANAC_VERSION},
                        {"trace", *file},
                        {"configuration", configuration_hash(*first)},
                        {"loads", plan.loads},
                        {"seeds", plan.seeds}};
  return table::sha256(decided.dump()).substr(0, 16);
}

Result<void> write_part(const std::string& path, const std::string& inputs,
                        const std::vector<SweepPoint>& points) {
  Json pairs = Json::array();
  std::vector<Summary> summaries;
  for (const SweepPoint& point : points) {
    pairs.push_back({{"load", point.load}, {"seed", point.seed}});
    summaries.push_back(point.summary);
  }
  const Json part = {
      {"inputs", inputs}, {"points", pairs}, {"summaries", Json::parse(to_json(summaries))}};
  return table::write_file(path, part.dump(1) + "\n");
}

Result<std::vector<SweepPoint>> read_part(const std::string& path, const std::string& inputs) {
  const Result<std::string> text = table::read_file(path);
  if (!text) return tl::unexpected(text.error());
  try {
    const Json part = Json::parse(*text);
    if (part.at("inputs").get<std::string>() != inputs) {
      return fail(Code::conflict, "the part was made from other inputs", {.file = path});
    }
    const auto summaries = parse_summaries(part.at("summaries").dump(), path);
    if (!summaries) return tl::unexpected(summaries.error());
    std::vector<SweepPoint> points;
    for (const Summary& summary : *summaries) {
      const Json& pair = part.at("points").at(points.size());
      points.push_back({pair.at("load"), pair.at("seed"), summary});
    }
    return points;
  } catch (const nlohmann::json::exception& error) {
    return fail(Code::corrupt, error.what(), {.file = path});
  }
}

Result<std::vector<SweepPoint>> join_parts(const std::vector<std::vector<SweepPoint>>& parts,
                                           std::size_t pairs) {
  std::size_t total = 0;
  for (const auto& part : parts) total += part.size();
  const std::size_t policies = total / pairs;
  std::vector<SweepPoint> points;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const std::vector<SweepPoint>& part = parts[pair % parts.size()];
    const std::size_t from = pair / parts.size() * policies;
    if (from + policies > part.size()) {
      return fail(Code::corrupt,
                  fmt::format("part {}/{} is incomplete", pair % parts.size() + 1, parts.size()));
    }
    const auto begin = part.begin() + static_cast<std::ptrdiff_t>(from);
    points.insert(points.end(), begin, begin + static_cast<std::ptrdiff_t>(policies));
  }
  return points;
}

std::string SweepParts::file(std::size_t number) const {
  return fmt::format("{}/{}-of-{}.json", folder(), number, of);
}

std::string SweepParts::words(std::size_t number) const {
  return fmt::format("{}/{}-of-{}.err", folder(), number, of);
}

bool SweepParts::has(std::size_t number) const {
  return read_part(file(number), inputs).has_value();
}

std::vector<std::size_t> SweepParts::missing() const {
  std::vector<std::size_t> numbers;
  for (std::size_t number = 1; number <= of; ++number) {
    if (!has(number)) numbers.push_back(number);
  }
  return numbers;
}

Result<bool> run_part(SweepPlan plan, const SweepParts& parts, SweepPart part) {
  // A mistake of the folder shows before hours of simulation.
  std::error_code error;
  std::filesystem::create_directories(parts.folder(), error);
  if (error) return fail(Code::unavailable, error.message(), {.file = parts.folder()});
  plan.part = part;
  const auto points = sweep(plan);
  if (!points) return tl::unexpected(points.error());
  if (plan.stop != nullptr && plan.stop->load()) return false;
  const auto written = write_part(parts.file(part.number), parts.inputs, *points);
  if (!written) return tl::unexpected(written.error());
  return true;
}

Result<std::vector<SweepPoint>> gather(const SweepParts& parts, std::size_t pairs) {
  std::vector<std::vector<SweepPoint>> all;
  for (std::size_t number = 1; number <= parts.of; ++number) {
    auto points = read_part(parts.file(number), parts.inputs);
    if (!points) return tl::unexpected(points.error());
    all.push_back(std::move(*points));
  }
  return join_parts(all, pairs);
}

}  // namespace almanac::experiment
