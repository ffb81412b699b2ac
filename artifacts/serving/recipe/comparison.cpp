// SPDX-License-Identifier: Apache-2.0

#include "serving/recipe/comparison.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "stats/mean.h"

namespace almanac::inference {

void Comparison::add(std::string what, double published, double ours, std::string unit) {
  figures_.push_back({std::move(what), published, ours, std::move(unit)});
}

void Comparison::add_column(const std::string& what, std::span<const double> published,
                            std::span<const double> ours, const std::string& unit) {
  add(what + ", mean", stats::mean(published), stats::mean(ours), unit);
  double largest = published.size() == ours.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t each = 0; each < std::min(published.size(), ours.size()); ++each) {
    const double difference = std::abs(published[each] - ours[each]);
    // A figure that is none differs as much as one can.
    largest =
        difference >= 0 ? std::max(largest, difference) : std::numeric_limits<double>::infinity();
  }
  add(what + ", largest difference", 0, largest, unit);
}

void Comparison::add_mismatches(std::string what, std::size_t differ) {
  add(std::move(what), 0, static_cast<double>(differ), "mismatches");
}

Result<std::vector<std::string>> files(const std::string& folder, const std::string& begins,
                                       const std::string& ends) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begins) && name.ends_with(ends)) found.push_back(entry.path().string());
  }
  if (error) return fail(Code::not_found, error.message(), {.file = folder});
  if (found.empty()) {
    return fail(Code::not_found, fmt::format("no file is called {}*{}", begins, ends),
                {.file = folder});
  }
  std::sort(found.begin(), found.end());
  return found;
}

void each_file(const std::string& folder, const std::string& begins, const std::string& ends,
               Comparison& made, const std::function<Result<void>(const std::string& path)>& work) {
  const auto plain = files(folder, begins, ends);
  const auto packed = files(folder, begins, ends + ".gz");
  if (!plain && !packed) return made.fail(plain.error());
  for (const auto* group : {&plain, &packed}) {
    if (!*group) continue;
    for (const std::string& path : **group) {
      if (const auto done = work(path); !done) made.fail(done.error());
    }
  }
}

std::string stem(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (const std::string_view suffix : {".gz", ".csv", ".jsonl"}) {
    if (name.ends_with(suffix)) name = name.substr(0, name.size() - suffix.size());
  }
  return name;
}

}  // namespace almanac::inference
