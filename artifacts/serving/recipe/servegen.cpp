// SPDX-License-Identifier: Apache-2.0

/// \file
/// ServeGen: requests drawn from its clients beside those that its generator drew. Draws are
/// others, so distributions are compared.
#include "inference/workload/servegen.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "inference/profile/sheet.h"
#include "serving/recipe/recipes.h"
#include "stats/correlation.h"
#include "stats/mean.h"
#include "stats/quantile.h"

namespace almanac::inference {
namespace {

using namespace published;

constexpr std::uint64_t kSeeds = 16;
constexpr double kFivePercent = 1.358;  // Smirnov's quantile, of large samples
constexpr const char* kClock = "timestamp_s";

/// One stretch of a generated log: arrivals and fields, column by column.
struct Stretch {
  std::vector<double> at{};
  std::map<std::string, std::vector<double>> fields{};
};

double variation_of_gaps(std::vector<double> at) {
  std::sort(at.begin(), at.end());
  std::vector<double> gaps;
  for (std::size_t each = 1; each < at.size(); ++each) gaps.push_back(at[each] - at[each - 1]);
  const double mean = stats::mean(gaps);
  double squares = 0;
  for (const double gap : gaps) squares += (gap - mean) * (gap - mean);
  return std::sqrt(squares / static_cast<double>(gaps.size())) / mean;
}

/// The largest distance between the parts of two samples that are at most a value (Kolmogorov and
/// Smirnov).
double distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double largest = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= value) ++i;
    while (j < b.size() && b[j] <= value) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                         static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return largest;
}

/// The clients that a log was drawn from: those of its name, else those with the same fields.
Result<ServegenClients> clients_of(const std::string& folder, std::string name,
                                   const std::vector<std::string>& columns) {
  std::replace(name.begin(), name.end(), '_', '-');
  const auto known = files(folder, "", "_windows.csv.gz");
  if (!known) return tl::unexpected(known.error());
  std::vector<std::string> names;
  for (const std::string& path : *known) {
    const std::string stemmed = stem(path);
    names.push_back(stemmed.substr(0, stemmed.rfind('_')));
  }
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return read_servegen(folder, name);
  }
  for (const std::string& each : names) {
    const auto clients = read_servegen(folder, each);
    if (!clients || clients->empty() || clients->begin()->second.lengths.empty()) continue;
    const auto& fields = clients->begin()->second.lengths.begin()->second;
    std::size_t common = 0;
    for (const std::string& column : columns) common += fields.contains(column);
    if (common == fields.size() && common + 1 == columns.size()) return clients;
  }
  return fail(Code::not_found, fmt::format("no clients are called {}", name), {.file = folder});
}

/// The stretches of a log by their start.
Result<std::map<double, Stretch>> stretches_of(const Sheet& sheet, double first) {
  std::map<double, Stretch> made;
  for (std::size_t row = 0; row < sheet.rows(); ++row) {
    const auto at = sheet.number(kClock, row);
    if (!at) return tl::unexpected(at.error());
    Stretch& stretch = made[first + std::floor(*at / kServegenWindow) * kServegenWindow];
    stretch.at.push_back(*at);
    for (const std::string& name : sheet.names()) {
      if (name == kClock) continue;
      const auto value = sheet.number(name, row);
      if (!value) return tl::unexpected(value.error());
      stretch.fields[name].push_back(*value);
    }
  }
  return made;
}

void compare_stretch(const std::string& what, const ServegenClients& clients, double start,
                     double rate, const Stretch& theirs, Comparison& made) {
  std::vector<double> counts, variations;
  std::map<std::string, std::vector<double>> drawn;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto requests = generate_servegen(clients, start, rate, seed);
    std::vector<double> at;
    for (const ServegenRequest& each : requests) {
      at.push_back(each.at);
      for (const auto& [field, value] : each.fields) drawn[field].push_back(value);
    }
    counts.push_back(static_cast<double>(requests.size()));
    variations.push_back(variation_of_gaps(std::move(at)));
  }
  made.add(what + "requests", static_cast<double>(theirs.at.size()), stats::mean(counts),
           "requests");
  made.add(what + "variation of intervals", variation_of_gaps(theirs.at), stats::mean(variations));
  for (const auto& [field, values] : theirs.fields) {
    const auto ours = drawn.find(field);
    if (ours == drawn.end()) continue;
    const std::string name = what + field;
    made.add(name + ", mean", stats::mean(values), stats::mean(ours->second));
    std::vector<double> published = values, mine = ours->second;
    made.add(name + ", median", stats::quantile(published, 0.5), stats::quantile(mine, 0.5));
    made.add(name + ", 99th percentile", stats::quantile(published, 0.99),
             stats::quantile(mine, 0.99));
    const double apart = distance(values, ours->second);
    made.add(name + ", distance of distributions (Kolmogorov-Smirnov)", 0, apart);
    made.add_mismatches(
        name + ", told apart at 5 %",
        apart > kFivePercent * std::sqrt(1 / static_cast<double>(values.size()) +
                                         1 / static_cast<double>(ours->second.size())));
  }
}

Result<void> compare_log(const Sheet& stats, std::size_t row, const Shared& shared,
                         const std::string& seed, std::map<std::string, Sheet>& logs,
                         std::map<std::string, ServegenClients>& clients, Comparison& made) {
  const std::string& name = stats.text("workload", row);
  const std::string path = fmt::format("{}/servegen/{}_{}.csv.gz", shared.golden, name, seed);
  if (!logs.contains(name)) {
    auto log = Sheet::read(path, {kClock});
    if (!log) return tl::unexpected(log.error());
    auto who = clients_of(shared.data + "/inference/servegen", name, log->names());
    if (!who) return tl::unexpected(who.error());
    logs.emplace(name, std::move(*log));
    clients.emplace(name, std::move(*who));
  }
  const auto start = stats.number("start_s", row);
  const auto rate = stats.number("target_rps", row);
  if (!start) return tl::unexpected(start.error());
  if (!rate) return tl::unexpected(rate.error());
  // Times of a log count from its first stretch.
  double first = *start;
  for (std::size_t each = 0; each < stats.rows(); ++each) {
    if (stats.text("workload", each) != name) continue;
    const auto at = stats.number("start_s", each);
    if (!at) return tl::unexpected(at.error());
    first = std::min(first, *at);
  }
  const auto stretches = stretches_of(logs.at(name), first);
  if (!stretches) return tl::unexpected(stretches.error());
  const auto theirs = stretches->find(*start);
  if (theirs == stretches->end() || theirs->second.at.size() < 3) {
    return fail(Code::invalid, fmt::format("has no requests of the stretch at {} s", *start),
                {.file = path});
  }
  compare_stretch(fmt::format("{} {} at {} s: ", name, seed, *start), clients.at(name), *start,
                  *rate, theirs->second, made);
  return {};
}

}  // namespace

Result<Comparison> compare_servegen(const Shared& shared) {
  constexpr std::string_view kPrefix = "stats_";
  const auto paths = files(shared.golden + "/servegen", std::string(kPrefix), ".csv");
  if (!paths) return tl::unexpected(paths.error());
  Comparison made;
  for (const std::string& path : *paths) {
    const auto stats = Sheet::read(path, {"workload", "start_s", "target_rps"});
    if (!stats) {
      made.fail(stats.error());
      continue;
    }
    const std::string seed = stem(path).substr(kPrefix.size());
    std::map<std::string, Sheet> logs;
    std::map<std::string, ServegenClients> clients;
    for (std::size_t row = 0; row < stats->rows(); ++row) {
      const auto done = compare_log(*stats, row, shared, seed, logs, clients, made);
      if (!done) made.fail(done.error());
    }
  }
  return made;
}

}  // namespace almanac::inference
