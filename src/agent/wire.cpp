// SPDX-License-Identifier: Apache-2.0
#include "agent/wire.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace almanac::agent {
namespace {

using Json = nlohmann::json;

constexpr double kMostCores = 65536;
constexpr double kLongest_ms = 24.0 * 3600 * 1000;
constexpr double kAny = 1e12;

/// Thrown at a field that is not what it should be.
struct Wrong {
  std::string field;
};

template <typename Value>
void put(Json& into, const char* name, const std::optional<Value>& value) {
  if (value) into[name] = *value;
}

std::optional<double> number(const Json& from, const char* name, double least, double most) {
  const auto found = from.find(name);
  if (found == from.end() || found->is_null()) return std::nullopt;
  if (!found->is_number()) throw Wrong{name};
  const double value = found->get<double>();
  if (!(value >= least && value <= most)) throw Wrong{name};
  return value;
}

double needed(const Json& from, const char* name, double least, double most) {
  const auto found = number(from, name, least, most);
  if (!found) throw Wrong{name};
  return *found;
}

Duration time(const Json& from, const char* name) {
  return Duration{std::llround(number(from, name, 0, kLongest_ms).value_or(0))};
}

manager::JobNumber job_of(const Json& from) {
  const double value = needed(from, "job", 1, std::numeric_limits<std::uint32_t>::max());
  if (value != std::floor(value)) throw Wrong{"job"};
  return manager::JobNumber{static_cast<std::uint32_t>(value)};
}

const Json& list(const Json& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_array()) throw Wrong{name};
  return *found;
}

const Json& object(const Json& from) {
  if (!from.is_object()) throw Wrong{"object"};
  return from;
}

Json json_of(const JobReport& job) {
  Json made{{"job", static_cast<std::uint32_t>(job.job)}};
  put(made, "cores", job.cores);
  put(made, "cpus", job.cpus);
  put(made, "limit", job.limit);
  put(made, "gpu_use", job.gpu_use);
  if (job.gpu_use) made["gpu_use_ms"] = job.gpu_use_length.count();
  put(made, "gb_s", job.bandwidth_gbs);
  put(made, "cpu_pressure", job.cpu_pressure);
  if (!job.trouble.empty()) made["trouble"] = job.trouble;
  return made;
}

JobReport job_report(const Json& from) {
  JobReport made{.job = job_of(object(from))};
  made.cores = number(from, "cores", 0, kMostCores);
  if (const auto cpus = number(from, "cpus", 0, kMostCores)) made.cpus = static_cast<int>(*cpus);
  made.limit = number(from, "limit", 0, kMostCores);
  made.gpu_use = number(from, "gpu_use", 0, 1);
  if (made.gpu_use) made.gpu_use_length = time(from, "gpu_use_ms");
  made.bandwidth_gbs = number(from, "gb_s", 0, kAny);
  made.cpu_pressure = number(from, "cpu_pressure", 0, 1);
  if (const auto found = from.find("trouble"); found != from.end()) {
    if (!found->is_string()) throw Wrong{"trouble"};
    made.trouble = found->get<std::string>();
  }
  return made;
}

Report report_of(const Json& from) {
  Report made{.length = time(object(from), "length_ms")};
  made.load = number(from, "load", 0, kAny).value_or(0);
  made.cpu_pressure = number(from, "cpu_pressure", 0, 1);
  made.memory_pressure = number(from, "memory_pressure", 0, 1);
  made.io_pressure = number(from, "io_pressure", 0, 1);
  for (const Json& each : list(from, "gpu_use")) {
    made.gpu_use.push_back(number({{"gpu_use", each}}, "gpu_use", 0, 1));
  }
  made.bandwidth_gbs = number(from, "gb_s", 0, kAny);
  for (const Json& each : list(from, "jobs")) made.jobs.push_back(job_report(each));
  return made;
}

Orders orders_of(const Json& from) {
  Orders made{.patience = time(object(from), "patience_ms")};
  if (made.patience < 1s || made.patience > kLongestPatience) throw Wrong{"patience_ms"};
  for (const Json& each : list(from, "limits")) {
    Limit limit{.job = job_of(object(each)), .cores = needed(each, "cores", 0.1, kMostCores)};
    made.limits.push_back(limit);
  }
  return made;
}

/// `what` with whatever `read` makes of it.
template <typename Read>
auto read_as(std::string_view text, const char* what, Read&& read)
    -> Result<decltype(read(Json{}))> {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains(what)) {
    return fail(Code::invalid, fmt::format("expected {}", what));
  }
  try {
    return read(json.at(what));
  } catch (const Wrong& wrong) {
    return fail(Code::invalid, fmt::format("{}: {} is missing or wrong", what, wrong.field));
  }
}

std::string text_of(const char* what, Json json) {
  return Json{{what, std::move(json)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_text(const Report& report) {
  Json made{{"length_ms", report.length.count()},
            {"load", report.load},
            {"gpu_use", Json::array()},
            {"jobs", Json::array()}};
  put(made, "cpu_pressure", report.cpu_pressure);
  put(made, "memory_pressure", report.memory_pressure);
  put(made, "io_pressure", report.io_pressure);
  put(made, "gb_s", report.bandwidth_gbs);
  for (const auto& each : report.gpu_use) made["gpu_use"].push_back(each ? Json(*each) : Json());
  for (const JobReport& each : report.jobs) made["jobs"].push_back(json_of(each));
  return text_of("report", std::move(made));
}

std::string to_text(const Orders& orders) {
  Json made{{"patience_ms", orders.patience.count()}, {"limits", Json::array()}};
  for (const Limit& each : orders.limits) {
    made["limits"].push_back(
        {{"job", static_cast<std::uint32_t>(each.job)}, {"cores", each.cores}});
  }
  return text_of("orders", std::move(made));
}

Result<Report> read_report(std::string_view text) { return read_as(text, "report", report_of); }
Result<Orders> read_orders(std::string_view text) { return read_as(text, "orders", orders_of); }

}  // namespace almanac::agent
