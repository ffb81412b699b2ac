// SPDX-License-Identifier: Apache-2.0

#include "inference/workload/servegen.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "inference/profile/sheet.h"
#include "table/stream.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

using nlohmann::json;

/// Source   Marsaglia and Tsang, TOMS 2000; below 1 by the power of a uniform draw.
double gamma(double shape, Rng& rng) {
  if (shape < 1) return gamma(shape + 1, rng) * std::pow(1 - rng.uniform(), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = rng.normal(), v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(1 - rng.uniform()) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

double interval(const ServegenRhythm& rhythm, Rng& rng) {
  return rhythm.scale * (rhythm.is_weibull ? std::pow(rng.exponential(), 1 / rhythm.shape)
                                           : gamma(rhythm.shape, rng));
}

ServegenLengths lengths_of(const json& told) {
  const bool are_counts = told.contains("c");
  const double steps = told.contains("bins") ? told.at("bins").get<double>() - 1 : 1;
  ServegenLengths made;
  double sum = 0;
  for (const json& each : told.at(are_counts ? "c" : "p")) {
    made.values.push_back(each.at(0).get<double>() / steps);
    made.reach.push_back(sum += each.at(1).get<double>());
  }
  if (made.values.empty() || sum <= 0 || !std::is_sorted(made.values.begin(), made.values.end())) {
    throw std::runtime_error("values must ascend, and there must be at least one");
  }
  for (double& each : made.reach) each /= sum;
  made.reach.back() = 1;
  return made;
}

std::string packed_or_not(const std::string& path) {
  return std::filesystem::exists(path) ? path : path + ".gz";
}

Result<void> read_lengths(const std::string& path, ServegenClients& made) try {
  const auto content = table::read_text_file(path);
  if (!content) return tl::unexpected(content.error());
  const json document = json::parse(*content);
  for (const auto& [client, stretches] : document.items()) {
    const auto found = made.find(std::stoi(client));
    if (found == made.end()) continue;
    for (const auto& [start, fields] : stretches.items()) {
      for (const auto& [field, told] : fields.items()) {
        found->second.lengths[std::stod(start)][field] = lengths_of(told);
      }
    }
  }
  return {};
} catch (const std::exception& error) {
  return fail(Code::invalid, error.what(), {.file = path});
}

}  // namespace

double ServegenLengths::at(double u) const {
  const auto found = std::lower_bound(reach.begin(), reach.end(), u);
  return values[static_cast<std::size_t>(found - reach.begin())];
}

Result<ServegenClients> read_servegen(const std::string& folder, const std::string& name) {
  ServegenClients made;
  const std::string path =
      packed_or_not((std::filesystem::path(folder) / (name + "_windows.csv")).string());
  const auto sheet =
      Sheet::read(path, {"client", "start_s", "rate_rps", "pattern", "shape", "scale"});
  if (!sheet) return tl::unexpected(sheet.error());
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    const auto client = sheet->number("client", row);
    const auto start = sheet->number("start_s", row);
    const auto rate = sheet->number("rate_rps", row);
    const auto shape = sheet->number("shape", row);
    const auto scale = sheet->number("scale", row);
    for (const auto* cell : {&client, &start, &rate, &shape, &scale}) {
      if (!*cell) return tl::unexpected(cell->error());
    }
    const std::string& pattern = sheet->text("pattern", row);
    if (!(*rate > 0 && *shape > 0 && *scale > 0) || (pattern != "Gamma" && pattern != "Weibull")) {
      return fail(
          Code::invalid,
          fmt::format("row {}: expected rate, shape and scale above 0, and Gamma or Weibull",
                      row + 1),
          {.file = path});
    }
    made[static_cast<int>(*client)].rhythms[*start] = {*rate, pattern == "Weibull", *shape, *scale};
  }
  if (auto done = read_lengths(
          packed_or_not((std::filesystem::path(folder) / (name + "_lengths.json")).string()), made);
      !done) {
    return tl::unexpected(done.error());
  }
  return made;
}

std::vector<ServegenRequest> generate_servegen(const ServegenClients& clients, double start,
                                               double rate, std::uint64_t seed) {
  struct Active {
    int id;
    const ServegenRhythm* rhythm;
    const std::map<std::string, ServegenLengths>* lengths;
  };
  std::vector<Active> active;
  double sum = 0;
  for (const auto& [id, client] : clients) {
    const auto rhythm = client.rhythms.find(start);
    const auto after = client.lengths.upper_bound(start);
    if (rhythm == client.rhythms.end() || after == client.lengths.begin()) continue;
    active.push_back({id, &rhythm->second, &std::prev(after)->second});
    sum += rhythm->second.rate;
  }
  std::vector<ServegenRequest> made;
  for (const Active& each : active) {
    Rng rng(seed, static_cast<std::uint64_t>(each.id));
    const auto count =
        static_cast<std::size_t>(std::ceil(rate * each.rhythm->rate / sum * kServegenWindow));
    std::vector<double> gaps(count);
    double span = 0;
    for (double& gap : gaps) span += gap = interval(*each.rhythm, rng);
    double at = 0;
    // The last comes when the stretch is over.
    for (std::size_t request = 0; request + 1 < count; ++request) {
      at += gaps[request] / span * kServegenWindow;
      ServegenRequest& one = made.emplace_back(ServegenRequest{start + at, each.id});
      const double u = rng.uniform();
      for (const auto& [field, lengths] : *each.lengths) one.fields[field] = lengths.at(u);
    }
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const ServegenRequest& a, const ServegenRequest& b) { return a.at < b.at; });
  return made;
}

}  // namespace almanac::inference
