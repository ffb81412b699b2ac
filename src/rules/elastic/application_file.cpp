// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/application_file.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <initializer_list>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "table/csv_reader.h"
#include "table/stream.h"
#include "text/number.h"

namespace almanac::elastic {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// `path`, packed if only that is there.
std::string plain_or_packed(const fs::path& path) {
  return fs::exists(path) ? path.string() : path.string() + ".gz";
}

/// Calls `take` with the numbers of each row, in the order of `columns`.
Result<void> each_row(const std::string& path, std::initializer_list<std::string_view> columns,
                      const std::function<void(const std::vector<double>&)>& take) {
  auto csv = table::CsvReader::open(path);
  if (!csv) return tl::unexpected(csv.error());
  std::vector<std::size_t> positions;
  for (const std::string_view column : columns) {
    const auto position = csv->find(column);
    if (!position) {
      return fail(Code::invalid, fmt::format("column {} is missing", column), {.file = path});
    }
    positions.push_back(*position);
  }
  std::vector<double> numbers(positions.size());
  for (;;) {
    const auto is_row = csv->next();
    if (!is_row) return tl::unexpected(is_row.error());
    if (!*is_row) return {};
    for (std::size_t at = 0; at < positions.size(); ++at) {
      const auto number = text::parse_decimal((*csv)[positions[at]]);
      if (!number || !(std::abs(*number) < 1e300)) {
        return fail(Code::invalid,
                    fmt::format("expected a number, found '{}'", (*csv)[positions[at]]),
                    csv->where());
      }
      numbers[at] = *number;
    }
    take(numbers);
  }
}

Result<void> read_tables(const fs::path& segments, const fs::path& profile, Application& made) {
  StepTable& steps = made.steps;
  auto read = each_row(plain_or_packed(profile / "placements.csv"),
                       {"placement", "local_bsz", "step_time", "sync_time"}, [&](const auto& row) {
                         steps.measure(static_cast<std::uint64_t>(row[0]), row[1],
                                       {.step_s = row[2], .sync_s = row[3]});
                       });
  if (!read) return read;
  read = each_row(plain_or_packed(segments),
                  {"num_nodes", "num_replicas", "b_from", "b_to", "step_time_at_from_s",
                   "step_slope", "sync_time_at_from_s", "sync_slope"},
                  [&](const auto& row) {
                    steps.interpolate(static_cast<int>(row[0]), static_cast<int>(row[1]),
                                      static_cast<int>(row[2]), static_cast<int>(row[3]),
                                      {.step_s = row[4], .sync_s = row[6]},
                                      {.step_s = row[5], .sync_s = row[7]});
                  });
  if (!read) return read;
  steps.sort();
  for (auto& run : made.validated) {
    std::vector<EpochRow>& rows = run.second;
    const auto name = fmt::format("validation-{}.csv", run.first);
    read = each_row(plain_or_packed(profile / name),
                    {"progress", "iteration", "grad_sqr", "grad_var"}, [&](const auto& row) {
                      rows.push_back({.progress = row[0],
                                      .iteration = row[1],
                                      .gradient = {.sqr = row[2], .var = row[3]}});
                    });
    if (!read) return read;
  }
  return {};
}

Application read_limits(const std::string& name, const Json& limits) {
  Application made{.name = name,
                   .initial_batch = limits.at("init_batch_size"),
                   .max_batch = limits.at("max_batch_size"),
                   .min_local_batch = limits.at("min_local_bsz"),
                   .max_local_batch = limits.at("max_local_bsz"),
                   .completion_epoch = limits.at("completion_epoch")};
  for (const int batch : limits.at("validated_batch_sizes")) made.validated[batch] = {};
  return made;
}

/// What is wrong with it, or "".
std::string fault(const Application& made) {
  if (made.min_local_batch < 1 || made.max_local_batch < made.min_local_batch ||
      made.initial_batch < 1 || made.max_batch < made.initial_batch) {
    return "the limits of its batches contradict each other";
  }
  if (!made.covers(made.initial_batch) || !made.covers(made.max_batch)) {
    return "its validation runs do not cover all batches";
  }
  if (made.completion_epoch < 0 || made.epochs_known() <= made.completion_epoch) {
    return fmt::format("its validation runs have {} epochs, {} are needed", made.epochs_known(),
                       made.completion_epoch + 1);
  }
  return "";
}

}  // namespace

Result<Applications> read_applications(const std::string& file, const std::string& folder,
                                       const std::string& profiles) {
  const auto text = table::read_text_file(file);
  if (!text) return tl::unexpected(text.error());
  Applications made;
  try {
    const Json all = Json::parse(*text);
    for (const auto& [name, limits] : all.items()) {
      Application& each = made[name] = read_limits(name, limits);
      const auto read = read_tables(fs::path(folder) / "interpolation" / (name + "_segments.csv"),
                                    fs::path(profiles) / name, each);
      if (!read) return tl::unexpected(read.error());
      if (const std::string wrong = fault(each); !wrong.empty()) {
        return fail(Code::invalid, fmt::format("application {}: {}", name, wrong), {.file = file});
      }
    }
  } catch (const Json::exception& wrong) {
    return fail(Code::invalid, wrong.what(), {.file = file});
  }
  return made;
}

}  // namespace almanac::elastic
