// SPDX-License-Identifier: Apache-2.0

/// \file
/// ServeGen: requests drawn from its clients beside those that its generator drew. Draws are
/// others, so distributions are compared.
///
/// Source   Xiang et al., ServeGen, 2025.
#include "inference/workload/servegen.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "stats/mean.h"
#include "stats/quantile.h"

namespace almanac::reproduce {

void register_servegen(Recipes& registry);

namespace servegen_recipe {
namespace {

using namespace inference;

constexpr const char* kClients = "data/inference/servegen/*_windows.csv";
constexpr const char* kWindows = "golden/servegen/stats_*.csv";
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

/// The clients of each model that has some, by its name, "m-large".
using Models = std::map<std::string, ServegenClients>;

/// The clients that a log was drawn from: those of its name, else those with the same fields.
const ServegenClients& clients_of(const Models& models, std::string name,
                                  const std::vector<std::string>& columns) {
  std::replace(name.begin(), name.end(), '_', '-');
  if (const auto found = models.find(name); found != models.end()) return found->second;
  for (const auto& [each, clients] : models) {
    if (clients.empty() || clients.begin()->second.lengths.empty()) continue;
    const auto& fields = clients.begin()->second.lengths.begin()->second;
    std::size_t common = 0;
    for (const std::string& column : columns) common += fields.contains(column);
    if (common == fields.size() && common + 1 == columns.size()) return clients;
  }
  throw Malformed{{.code = Code::not_found, .message = "no clients are called " + name}};
}

/// A generated log: its columns, and its stretches by their start.
struct Log {
  std::vector<std::string> columns{};
  std::map<double, Stretch> stretches{};
};

/// `first` is the start of the first stretch, from which times count.
Log read_log(const File& file, double first) {
  Rows rows(file.path, {kClock});
  Log made{.columns = rows.header()};
  while (rows.next()) {
    const double at = rows.number(kClock);
    Stretch& stretch = made.stretches[first + std::floor(at / kServegenWindow) * kServegenWindow];
    stretch.at.push_back(at);
    for (const std::string& name : made.columns) {
      if (name != kClock) stretch.fields[name].push_back(rows.number(name));
    }
  }
  return made;
}

void compare_stretch(Bench& bench, const std::string& what, const ServegenClients& clients,
                     double start, double rate, const Stretch& theirs) {
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
  bench.add(what + "requests", static_cast<double>(theirs.at.size()), stats::mean(counts),
            "requests");
  bench.add(what + "variation of intervals", variation_of_gaps(theirs.at), stats::mean(variations));
  for (const auto& [field, values] : theirs.fields) {
    const auto ours = drawn.find(field);
    if (ours == drawn.end()) continue;
    const std::string name = what + field;
    bench.add(name + ", mean", stats::mean(values), stats::mean(ours->second));
    std::vector<double> published = values, mine = ours->second;
    bench.add(name + ", median", stats::quantile(published, 0.5), stats::quantile(mine, 0.5));
    bench.add(name + ", 99th percentile", stats::quantile(published, 0.99),
              stats::quantile(mine, 0.99));
    const double apart = distance(values, ours->second);
    bench.add(name + ", distance of distributions (Kolmogorov-Smirnov)", 0, apart);
    bench.add_mismatches(
        name + ", told apart at 5 %",
        apart > kFivePercent * std::sqrt(1 / static_cast<double>(values.size()) +
                                         1 / static_cast<double>(ours->second.size())));
  }
}

struct Window {
  std::string workload{};
  double start = 0, rate = 0;
};

void compare_windows(Bench& bench, const File& file, const Models& models) {
  std::vector<Window> windows;
  std::map<std::string, double> first;  // stretch of each log
  Rows rows(file.path, {"workload", "start_s", "target_rps"});
  while (rows.next()) {
    windows.push_back(
        {std::string(rows.text("workload")), rows.number("start_s"), rows.number("target_rps")});
    const auto& [name, start, rate] = windows.back();
    double& earliest = first.try_emplace(name, start).first->second;
    earliest = std::min(earliest, start);
  }
  const std::string seed = file.stem.substr(std::string_view("stats_").size());
  std::map<std::string, Log> logs;
  for (const auto& [name, start, rate] : windows) {
    auto log = logs.find(name);
    if (log == logs.end()) {
      const File drawn = bench.beside(file, fmt::format("{}_{}.csv", name, seed));
      log = logs.emplace(name, read_log(drawn, first.at(name))).first;
    }
    const Stretch& theirs = log->second.stretches[start];
    require(theirs.at.size() >= 3,
            fmt::format("{} has no requests of the stretch at {} s", name, start));
    compare_stretch(bench, fmt::format("{} {} at {} s: ", name, seed, start),
                    clients_of(models, name, log->second.columns), start, rate, theirs);
  }
}

void make(Bench& bench) {
  Models models;
  bench.each(kClients, [&](const File& file) {
    const std::string name = file.stem.substr(0, file.stem.rfind('_'));
    const std::string folder = file.path.substr(0, file.path.rfind('/'));
    models[name] = value_or_throw(read_servegen(folder, name));
  });
  bench.each(kWindows, [&](const File& file) { compare_windows(bench, file, models); });
}

}  // namespace
}  // namespace servegen_recipe

void register_servegen(Recipes& registry) {
  using namespace servegen_recipe;
  registry.add({.name = "servegen",
                .summary = "requests drawn from clients, by their distributions",
                .paper = "Xiang et al., 2025 (ServeGen)",
                .kind = Kind::rerun,
                .needs = {{kClients, "clients of github.com/alibaba/ServeGen"},
                          {kWindows, "what its generator drew from them"}},
                .make = make});
}

}  // namespace almanac::reproduce
