// SPDX-License-Identifier: Apache-2.0
#include "reproduce/gavel_data.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "text/number.h"

namespace almanac::reproduce {
namespace {

constexpr std::string_view kSpread = "_unconsolidated";

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// "('ResNet-18 (batch size 16)', 1)" as model and GPUs.
std::pair<std::string, int> read_kind(const std::string& text) {
  const auto first = text.find('\'');
  const auto last = text.rfind('\'');
  require(first != std::string::npos && last > first, fmt::format("{} names no kind of job", text));
  const auto comma = text.find(',', last);
  const auto end = text.find(')', last);
  require(comma < end && end != std::string::npos, fmt::format("{} names no kind of job", text));
  const auto gpus = text::parse_whole(text.substr(comma + 2, end - comma - 2));
  require(gpus.has_value() && *gpus > 0, fmt::format("{} names no number of GPUs", text));
  return {text.substr(first + 1, last - first - 1), static_cast<int>(*gpus)};
}

}  // namespace

std::string model_name(std::string_view model, std::string_view batch_size) {
  if (batch_size.empty()) return std::string(model);
  return fmt::format("{} (batch size {})", model, batch_size);
}

ModelSpeeds::ModelSpeeds(const std::string& path) {
  std::set<std::string> types;
  std::map<std::pair<std::string, int>, std::map<std::string, double>> rates;
  Rows rows(path, {"gpu_type", "model", "batch_size", "scale_factor", "steps_per_s"});
  while (rows.next()) {
    const std::string type(rows.text("gpu_type"));
    if (type.ends_with(kSpread)) continue;
    types.insert(type);
    const int gpus = static_cast<int>(rows.whole("scale_factor"));
    rates[{model_name(rows.text("model"), rows.text("batch_size")), gpus}][type] =
        rows.number("steps_per_s");
  }
  types_.assign(types.begin(), types.end());
  for (const auto& [kind, by_type] : rates) {
    kinds_.emplace(kind, speeds_.alone.size());
    std::vector<double>& row = speeds_.alone.emplace_back();
    for (const std::string& type : types_) {
      const auto rate = by_type.find(type);
      row.push_back(rate == by_type.end() ? 0 : rate->second);
    }
  }
}

std::size_t ModelSpeeds::kind(const std::string& model, int gpus) const {
  const auto found = kinds_.find({model, gpus});
  require(found != kinds_.end(), fmt::format("no speed of {} on {} GPUs", model, gpus));
  return found->second;
}

void ModelSpeeds::add_pairs(const Json& throughputs) {
  std::map<std::array<std::size_t, 3>, std::array<double, 2>> pairs;
  for (std::size_t type = 0; type < types_.size(); ++type) {
    for (const auto& [one, others] : throughputs.at(types_[type]).items()) {
      const auto first = kinds_.find(read_kind(one));
      if (first == kinds_.end()) continue;
      for (const auto& [other, rates] : others.items()) {
        if (!rates.is_array()) continue;  // alone
        const auto second = kinds_.find(read_kind(other));
        if (second == kinds_.end()) continue;
        pairs[{type, first->second, second->second}] = rates.get<std::array<double, 2>>();
      }
    }
  }
  speeds_.beside = [pairs = std::move(pairs)](std::size_t type, std::size_t one,
                                              std::size_t other) {
    const auto found = pairs.find({type, one, other});
    return found == pairs.end() ? std::array<double, 2>{} : found->second;
  };
}

std::vector<double> gpus_of(const Json& named, const std::vector<std::string>& types) {
  std::vector<double> gpus;
  for (const std::string& type : types) gpus.push_back(named.value(type, 0.0));
  return gpus;
}

gavel::Cluster cluster_of(std::string_view types, std::string_view gpus) {
  const std::vector<std::string> names = split(types, ':');
  const std::vector<std::string> numbers = split(gpus, ':');
  require(names.size() == numbers.size(), fmt::format("{} does not say {}", gpus, types));
  std::map<std::string, int> sorted;
  for (std::size_t at = 0; at < names.size(); ++at) {
    const auto number = text::parse_whole(numbers[at]);
    require(number && *number >= 0, fmt::format("{} does not say {}", gpus, types));
    sorted[names[at]] = static_cast<int>(*number);
  }
  gavel::Cluster cluster;
  for (const auto& [type, number] : sorted) {
    cluster.types.push_back(type);
    cluster.gpus.push_back(number);
  }
  return cluster;
}

std::map<std::string, std::vector<gavel::Job>> read_traces(const std::string& path,
                                                           const ModelSpeeds& speeds) {
  std::map<std::string, std::vector<gavel::Job>> traces;
  Rows rows(path, {"trace", "job", "model", "batch_size", "total_steps", "scale_factor", "priority",
                   "arrival_s"});
  while (rows.next()) {
    gavel::Job job{.number = static_cast<int>(rows.whole("job")),
                   .gpus = static_cast<int>(rows.whole("scale_factor")),
                   .weight = rows.number("priority"),
                   .steps = rows.number("total_steps"),
                   .arrival_s = rows.number("arrival_s")};
    job.kind = speeds.kind(model_name(rows.text("model"), rows.text("batch_size")), job.gpus);
    traces[std::string(rows.text("trace"))].push_back(job);
  }
  for (auto& [name, jobs] : traces) {
    std::stable_sort(jobs.begin(), jobs.end(), [](const gavel::Job& a, const gavel::Job& b) {
      return a.arrival_s < b.arrival_s;
    });
  }
  return traces;
}

std::vector<gavel::Job> read_stream(const std::string& path, const ModelSpeeds& speeds,
                                    double mean_gap_s) {
  std::vector<gavel::Job> jobs;
  double arrival_s = 0;
  Rows rows(path,
            {"job", "model", "batch_size", "scale_factor", "total_steps", "gap_to_next_unit"});
  while (rows.next()) {
    gavel::Job job{.number = static_cast<int>(rows.whole("job")),
                   .gpus = static_cast<int>(rows.whole("scale_factor")),
                   .steps = rows.number("total_steps"),
                   .arrival_s = arrival_s};
    job.kind = speeds.kind(model_name(rows.text("model"), rows.text("batch_size")), job.gpus);
    arrival_s += rows.number("gap_to_next_unit") * mean_gap_s;
    jobs.push_back(job);
  }
  return jobs;
}

}  // namespace almanac::reproduce
