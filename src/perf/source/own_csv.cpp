// SPDX-License-Identifier: Apache-2.0

/// \file
/// Almanac's own table of measurements: docs/reference/formats.md, "Profiles".
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "perf/model_name.h"
#include "perf/source/source.h"
#include "text/nearest.h"

namespace almanac::perf::source {
namespace {

const std::vector<std::string> kColumns{"model",
                                        "batch",
                                        "gpu_type",
                                        "gpus",
                                        "nodes",
                                        "cpus_per_gpu",
                                        "memory_gb_per_gpu",
                                        "neighbour",
                                        "neighbour_batch",
                                        "throughput",
                                        "throughput_low",
                                        "throughput_high",
                                        "task",
                                        "steps",
                                        "seconds"};

void check_header(const Rows& rows, const std::string& path) {
  for (const std::string& column : rows.header()) {
    if (std::find(kColumns.begin(), kColumns.end(), column) != kColumns.end()) continue;
    throw Refused{{Code::invalid,
                   fmt::format("unknown column \"{}\"", column),
                   {path, 1},
                   text::meant_or_known(column, kColumns)}};
  }
}

/// An empty field, or a column that is not there, says nothing.
bool says(const Rows& rows, std::string_view column) {
  return rows.has(column) && !rows.text(column).empty();
}

Measurement::Task task_of(const Rows& rows) {
  const std::string_view word = rows.text("task");
  if (word == "training") return Measurement::Task::training;
  if (word == "inference") return Measurement::Task::inference;
  rows.refuse(fmt::format("task must be training or inference, found \"{}\"", word));
}

}  // namespace

Profile read_own_csv(Rows rows, const std::string& path) {
  check_header(rows, path);
  // Files that `almanac profile` wrote on one site's machines are to be compared.
  Profile profile{.source = "own", .rows = {}};
  while (rows.next()) {
    Measurement made;
    made.model = model_name(rows.text("model"));
    if (made.model.empty()) rows.refuse("model is empty");
    if (says(rows, "batch")) made.batch = rows.number("batch", 1e-6, 1e9);
    if (says(rows, "gpu_type")) made.gpu_type = rows.text("gpu_type");
    if (says(rows, "gpus")) made.gpus = rows.whole("gpus", 1, 100'000);
    if (says(rows, "nodes")) made.nodes = rows.whole("nodes", 1, 100'000);
    if (made.nodes > made.gpus) {
      rows.refuse(fmt::format("{} GPUs cannot be on {} nodes", made.gpus, made.nodes));
    }
    if (says(rows, "cpus_per_gpu")) made.cpus_per_gpu = rows.number("cpus_per_gpu", 1e-3, 1e6);
    if (says(rows, "memory_gb_per_gpu")) {
      made.memory_gb_per_gpu = rows.number("memory_gb_per_gpu", 1e-3, 1e6);
    }
    if (says(rows, "neighbour")) made.neighbour = model_name(rows.text("neighbour"));
    if (says(rows, "neighbour_batch")) {
      made.neighbour_batch = rows.number("neighbour_batch", 1e-6, 1e9);
    }
    if (says(rows, "task")) made.task = task_of(rows);
    const bool timed = says(rows, "steps") || says(rows, "seconds");
    if (timed) {
      made.steps = rows.number("steps", 1, 1e12);
      made.seconds = rows.number("seconds", 1e-6, 1e12);
    }
    if (!timed || says(rows, "throughput")) made.throughput = rows.number("throughput", 0);
    if (says(rows, "throughput_low")) {
      made.low = rows.number("throughput_low", 0, made.throughput);
    }
    if (says(rows, "throughput_high")) {
      made.high = rows.number("throughput_high", made.throughput);
    }
    profile.rows.push_back(std::move(made));
  }
  return profile;
}

}  // namespace almanac::perf::source
