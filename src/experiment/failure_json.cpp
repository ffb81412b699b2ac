// SPDX-License-Identifier: Apache-2.0
#include "experiment/failure_json.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace almanac::experiment {
namespace {

using FailureObject = nlohmann::ordered_json;
using Cause = FailureReport::Cause;
using Size = FailureReport::Size;

constexpr std::array<std::pair<const char*, double Cause::*>, 4> kCauseHours = {
    {{"lost_gpu_h", &Cause::lost_gpu_h},
     {"restart_gpu_h", &Cause::restart_gpu_h},
     {"waited_gpu_h", &Cause::waited_gpu_h},
     {"out_gpu_h", &Cause::out_gpu_h}}};

constexpr std::array<std::pair<const char*, double Size::*>, 13> kSizeNumbers = {
    {{"held_gpu_h", &Size::held_gpu_h},
     {"useful_gpu_h", &Size::useful_gpu_h},
     {"written_gpu_h", &Size::written_gpu_h},
     {"lost_gpu_h", &Size::lost_gpu_h},
     {"restart_gpu_h", &Size::restart_gpu_h},
     {"waited_gpu_h", &Size::waited_gpu_h},
     {"ettr", &Size::ettr},
     {"mttf_h", &Size::mttf_h},
     {"expected_mttf_h", &Size::expected_mttf_h},
     {"interval_s", &Size::interval_s},
     {"best_interval_s", &Size::best_interval_s},
     {"ettr_expected", &Size::ettr_expected},
     {"ettr_best", &Size::ettr_best}}};

constexpr std::array<std::pair<const char*, double FailureReport::*>, 4> kTotals = {
    {{"ettr", &FailureReport::ettr},
     {"useful_gpu_h", &FailureReport::useful_gpu_h},
     {"written_gpu_h", &FailureReport::written_gpu_h},
     {"stopped_gpu_h", &FailureReport::stopped_gpu_h}}};

constexpr std::array<std::pair<const char*, std::uint64_t FailureReport::*>, 4> kCounts = {
    {{"gave_up", &FailureReport::gave_up},
     {"lemons", &FailureReport::lemons},
     {"lemons_found", &FailureReport::lemons_found},
     {"lemons_mistaken", &FailureReport::lemons_mistaken}}};

/// JSON has no NaN.
FailureObject or_null(double value) {
  return std::isfinite(value) ? FailureObject(value) : FailureObject(nullptr);
}
double or_nan(const FailureObject& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

}  // namespace

FailureObject failures_json(const FailureReport& report) {
  FailureObject made;
  for (const auto& [name, member] : kTotals) made[name] = or_null(report.*member);
  for (const auto& [name, member] : kCounts) made[name] = report.*member;
  for (const Cause& cause : report.causes) {
    FailureObject each = {
        {"cause", cause.name}, {"interruptions", cause.interruptions}, {"outages", cause.outages}};
    for (const auto& [name, member] : kCauseHours) each[name] = or_null(cause.*member);
    made["causes"].push_back(std::move(each));
  }
  made["sizes"] = FailureObject::array();
  for (const Size& size : report.sizes) {
    FailureObject each = {
        {"from_gpus", size.from},
        {"to_gpus", size.to == std::numeric_limits<int>::max() ? FailureObject(nullptr)
                                                               : FailureObject(size.to)},
        {"jobs", size.jobs},
        {"interruptions", size.interruptions}};
    for (const auto& [name, member] : kSizeNumbers) each[name] = or_null(size.*member);
    made["sizes"].push_back(std::move(each));
  }
  return made;
}

FailureReport parse_failures(const FailureObject& object) {
  FailureReport made;
  for (const auto& [name, member] : kTotals) made.*member = or_nan(object.at(name));
  for (const auto& [name, member] : kCounts) made.*member = object.at(name);
  for (const FailureObject& each : object.at("causes")) {
    Cause& cause = made.causes.emplace_back();
    cause.name = each.at("cause");
    cause.interruptions = each.at("interruptions");
    cause.outages = each.at("outages");
    for (const auto& [name, member] : kCauseHours) cause.*member = or_nan(each.at(name));
  }
  for (const FailureObject& each : object.at("sizes")) {
    Size& size = made.sizes.emplace_back();
    size.from = each.at("from_gpus");
    size.to = each.at("to_gpus").is_null() ? std::numeric_limits<int>::max()
                                           : each.at("to_gpus").get<int>();
    size.jobs = each.at("jobs");
    size.interruptions = each.at("interruptions");
    for (const auto& [name, member] : kSizeNumbers) size.*member = or_nan(each.at(name));
  }
  return made;
}

}  // namespace almanac::experiment
