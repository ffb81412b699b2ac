// SPDX-License-Identifier: Apache-2.0
#include "study/vc_series.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "table/csv_reader.h"
#include "text/datetime.h"
#include "text/number.h"

namespace almanac::study {
namespace {

namespace fs = std::filesystem;

auto day_since_epoch(Time time) {
  return std::chrono::floor<std::chrono::days>(time.time_since_epoch());
}

/// "vcvlY" of "vcvlY.csv.gz"; "" for a file of another kind.
std::string name_of(const fs::path& path) {
  const std::string file = path.filename().string();
  const std::size_t ending = file.find(".csv");
  return ending == std::string::npos ? "" : file.substr(0, ending);
}

}  // namespace

Result<VcSeries> read_vc_file(const std::string& path, const std::vector<Time>& excluded) {
  auto csv = table::CsvReader::open(path);
  if (!csv) return tl::unexpected(csv.error());
  const auto time = csv->find("time");
  const auto total = csv->find("total_gpu_num");
  const auto use = csv->find("gpu_utilization");
  if (!time || !total || !use) {
    return fail(Code::invalid, "expected the columns time, total_gpu_num and gpu_utilization",
                csv->where());
  }
  VcSeries series{.name = name_of(path)};
  std::vector<double> values;
  for (;;) {
    const auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    const auto at = text::parse_datetime((*csv)[*time]);
    const auto gpus = text::parse_whole((*csv)[*total]);
    const auto value = text::parse_decimal((*csv)[*use]);
    if (!at || !gpus || !value) {
      return fail(Code::invalid, "expected a time, a whole number of GPUs and a share of them",
                  csv->where());
    }
    if (std::any_of(excluded.begin(), excluded.end(),
                    [&](Time each) { return day_since_epoch(each) == day_since_epoch(*at); })) {
      continue;
    }
    series.gpus = std::max(series.gpus, static_cast<int>(*gpus));
    values.push_back(*value);
  }
  series.minutes = values.size();
  series.use = box(values);
  return series;
}

Result<std::vector<VcSeries>> read_vc_series(const std::string& folder,
                                             const std::vector<Time>& excluded) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!name_of(entry.path()).empty()) files.push_back(entry.path());
  }
  if (error) return fail(Code::not_found, error.message(), {.file = folder});
  if (files.empty()) {
    return fail(Code::not_found, "no CSV file in this folder", {.file = folder});
  }
  std::sort(files.begin(), files.end());
  std::vector<VcSeries> all;
  for (const fs::path& file : files) {
    auto series = read_vc_file(file.string(), excluded);
    if (!series) return tl::unexpected(series.error());
    all.push_back(std::move(*series));
  }
  return all;
}

}  // namespace almanac::study
