// SPDX-License-Identifier: Apache-2.0

/// \file
/// The protocol between the agent of a node and the daemon, in JSON: reports up, orders down.
/// seal.h authenticates the lines.
///
///   {"report": {"length_ms": 5000, "load": 3.1, "gpu_use": [0.9, null], "jobs": [
///       {"job": 12, "cores": 7.9, "cpus": 16, "limit": 8, "gpu_use": 0.8, "gpu_use_ms": 5000}]}}
///   {"orders": {"patience_ms": 60000, "limits": [{"job": 12, "cores": 8}]}}
///
/// Orders are complete: a job that they do not name has Slurm's settings. A missing value is
/// unknown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "manager/job.h"

namespace almanac::agent {

inline constexpr int kProtocol = 1;
/// In bytes.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;
/// How often an agent looks and reports.
inline constexpr Duration kEvery = 5s;
/// Longest time limit of orders.
inline constexpr Duration kLongestPatience = 1h;

/// A job on this node since the last report.
struct JobReport {
  manager::JobNumber job{};
  std::optional<double> cores{};    ///< Used, on average.
  std::optional<int> cpus{};        ///< Processors that Slurm lets it use.
  std::optional<double> limit{};    ///< Cores that we limit it to; nothing for Slurm's setting.
  std::optional<double> gpu_use{};  ///< 0 to 1, if it says so itself.
  Duration gpu_use_length{0};       ///< Time that this was measured over.
  std::optional<double> bandwidth_gbs{};  ///< Through the memory.
  std::optional<double> cpu_pressure{};   ///< Share of the time in which some of it wanted for a
                                          ///< core.
  std::string trouble{};                  ///< Why it is not held to what was ordered.

  bool operator==(const JobReport&) const = default;
};

struct Report {
  Duration length{0};  ///< Time since the previous report; 0 for the first one.
  double load = 0;
  std::optional<double> cpu_pressure{}, memory_pressure{}, io_pressure{};
  std::vector<std::optional<double>> gpu_use{};  ///< By the driver's number, at this moment.
  std::optional<double> bandwidth_gbs{};         ///< Of the whole node.
  std::vector<JobReport> jobs{};

  bool operator==(const Report&) const = default;
};

/// A limit of a job's cores on this node.
struct Limit {
  manager::JobNumber job{};
  double cores = 0;

  bool operator==(const Limit&) const = default;
};

struct Orders {
  Duration patience{0};  ///< Without new orders for this time, all limits are lifted.
  std::vector<Limit> limits{};

  bool operator==(const Orders&) const = default;
};

std::string to_text(const Report& report);
std::string to_text(const Orders& orders);
/// Fail with invalid, and say the field.
Result<Report> read_report(std::string_view text);
Result<Orders> read_orders(std::string_view text);

}  // namespace almanac::agent
