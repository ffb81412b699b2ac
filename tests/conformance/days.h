// SPDX-License-Identifier: Apache-2.0

/// \file
/// The days on which every policy is played: crowded ones, drawn from a seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/rng.h"
#include "support/play.h"

namespace almanac {

/// 120 jobs on two virtual clusters of unlike nodes, crowded, with ties and zero-length jobs.
inline Case crowded_day(std::uint64_t seed) {
  Case made;
  made.cluster.add_vc("red");
  made.cluster.add_nodes({.gpus = 8, .gpu_type = "V100"}, 3);
  made.cluster.add_vc("blue");
  made.cluster.add_nodes({.gpus = 4, .gpu_type = "V100"}, 2);
  made.cluster.add_nodes({.gpus = 4, .gpu_type = "A100"}, 2);
  Rng rng(seed);
  std::int64_t now = 0;
  for (int job = 0; job < 120; ++job) {
    if (rng.below(3) > 0) now += static_cast<std::int64_t>(rng.below(120));
    const bool red = rng.below(2) == 0;
    const std::int64_t run = rng.below(20) == 0 ? 0 : static_cast<std::int64_t>(1 + rng.below(900));
    const auto error = static_cast<std::int64_t>(rng.below(200));
    add_job(made.trace, {.id = std::to_string(job),
                         .submit = now * 1s,
                         .gpus = static_cast<int>(1 + rng.below(red ? 16 : 8)),
                         .run = run * 1s,
                         .vc = red ? "red" : "blue",
                         .user = rng.below(2) == 0 ? "ann" : "bob",
                         .name = rng.below(2) == 0 ? "train" : "test",
                         .gpu_type = rng.below(4) == 0 ? "V100" : "",
                         .limit = (run + error) * 1s,
                         .predicted = (run * 10 + error) * 100ms});
  }
  return made;
}

/// The same day where cores and memory are short too: a third are CPU jobs, some of several tasks,
/// and there is a node without GPUs.
inline Case crowded_day_with_cores(std::uint64_t seed) {
  Case made = crowded_day(seed);
  for (cluster::NodeClass& make : made.cluster.classes) {
    make.cpus = 4 * make.gpus;
    make.memory_gb = 64;
  }
  made.cluster.add_nodes({.gpus = 0, .cpus = 16, .memory_gb = 32}, 1);
  Rng rng(seed, 1);
  for (trace::Job& job : made.trace.jobs) {
    trace::Request& request = job.request;
    if (rng.below(3) == 0) {
      request.gpus = 0;
      request.gpu_type = kNoName;
      request.nodes = static_cast<std::int32_t>(1 + rng.below(3));
    }
    const auto units = static_cast<float>(std::max(request.gpus, request.nodes));
    if (rng.below(4) > 0) request.cpus = units * static_cast<float>(1 + rng.below(12)) / 2;
    if (rng.below(4) > 0) request.memory_gb = units * static_cast<float>(rng.below(16));
  }
  return made;
}

/// The same where most jobs of one GPU ask a part of it.
inline Case crowded_day_with_parts(std::uint64_t seed) {
  Case made = crowded_day_with_cores(seed);
  Rng rng(seed, 2);
  for (trace::Job& job : made.trace.jobs) {
    trace::Request& request = job.request;
    if (request.gpus == 0 || rng.below(2) == 0) continue;
    request.gpus = 1;
    request.gpu_share = static_cast<float>(1 + rng.below(12)) / 10;
    if (request.gpu_share > 1) request.gpu_share = 1;
  }
  return made;
}

/// The same where jobs of one virtual cluster share boards that are cut, most by instances, and
/// some of the other ask parts with memory.
inline Case crowded_day_with_instances(std::uint64_t seed) {
  Case made = crowded_day(seed);
  const slices::Board& board = *slices::find_board("A100-80GB");
  for (cluster::NodeClass& make : made.cluster.classes) {
    make.gpu_memory_gb = make.gpu_type == "A100" ? board.memory_gib : 16;
    if (make.gpu_type != "A100") continue;
    make.sharing = cluster::Sharing::mig;
    make.board = &board;
  }
  Rng rng(seed, 4);
  for (trace::Job& job : made.trace.jobs) {
    trace::Request& request = job.request;
    const bool red = made.trace.names[request.vc] == "red";
    if (rng.below(3) == 0) continue;
    if (red) {
      request.gpus = 1;
      request.gpu_share = static_cast<float>(1 + rng.below(9)) / 10;
      request.gpu_memory_gb = static_cast<float>(rng.below(12));
      continue;
    }
    request.gpu_type = kNoName;
    request.gpus = rng.below(4) == 0 ? 2 : 1;
    request.gpu_profile = made.trace.names.intern(
        board.profiles[rng.below(board.profiles.size() - (request.gpus > 1 ? 1 : 0))].name);
  }
  return made;
}

/// Nodes go down again and again in the first two hours, some with a notice, some two at once, and
/// come back within half an hour; a price changes beside.
inline cluster::Incidents bad_day(const Case& day, std::uint64_t seed) {
  using Kind = cluster::Incident::Kind;
  cluster::Incidents made;
  made.signals = {"price"};
  Rng rng(seed, 3);
  Time at{};
  while (at < Time{2h}) {
    at += static_cast<std::int64_t>(rng.below(600)) * 1s;
    const auto node = static_cast<std::uint32_t>(rng.below(day.cluster.nodes.size()));
    const Time back = at + static_cast<std::int64_t>(1 + rng.below(1800)) * 1s;
    if (rng.below(2) == 0) made.all.push_back({at - 60s, Kind::notice, node, 60});
    made.all.push_back({at, Kind::down, node});
    made.all.push_back({back, Kind::up, node});
    made.all.push_back({at, Kind::signal, 0, static_cast<double>(rng.below(10))});
  }
  std::stable_sort(made.all.begin(), made.all.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return made;
}

/// The same where half of the jobs are elastic, and a third are trials of two sweeps, one with a
/// deadline.
inline Case crowded_day_with_training(std::uint64_t seed) {
  Case made = crowded_day(seed);
  made.elastic = "elastic.toml";
  Rng rng(seed, 3);
  const char* const models[] = {"linear", "flat", "noisy"};
  for (trace::Job& job : made.trace.jobs) {
    trace::Request& request = job.request;
    if (rng.below(2) == 0) {
      request.model = made.trace.names.intern(models[rng.below(3)]);
      request.max_gpus = request.gpus + static_cast<std::int32_t>(rng.below(8));
      if (request.gpus % 2 == 0) request.plan_gpus = 2;
    }
    if (rng.below(3) > 0) continue;
    request.steps = 100;
    const bool is_first = rng.below(2) == 0;
    request.group = made.trace.names.intern(is_first ? "one" : "two");
    if (is_first) request.deadline = Time{2h};
    std::string metric;
    for (const int steps : {1, 4, 16, 64}) {
      metric += fmt::format("{}{}:{}", metric.empty() ? "" : "|", steps, rng.below(100));
    }
    job.outcome.metric = made.trace.names.intern(metric);
  }
  return made;
}

/// The day with training where most jobs need groups of GPUs that NVLink connects: two nodes of
/// four GPUs are a domain in one virtual cluster, each node in the other.
inline Case crowded_day_with_nvlink(std::uint64_t seed) {
  Case made = crowded_day_with_training(seed);
  const cluster::NodeClass in_racks{
      .gpus = 4, .gpu_type = "V100", .nvlink_domain = cluster::NvlinkDomain::rack};
  made.cluster = {};
  made.cluster.add_vc("red");
  for (const char* rack : {"r1", "r2", "r3"}) made.cluster.add_nodes(in_racks, 2, {}, rack);
  made.cluster.add_vc("blue");
  made.cluster.add_nodes({.gpus = 4, .gpu_type = "V100"}, 2);
  made.cluster.add_nodes({.gpus = 4, .gpu_type = "A100"}, 2);
  Rng rng(seed, 5);
  for (trace::Job& job : made.trace.jobs) {
    trace::Request& request = job.request;
    if (rng.below(4) == 0) continue;
    const bool red = made.trace.names[request.vc] == "red";
    request.nvlink_gpus = 2 << rng.below(red ? 3 : 2);
    request.gpus = std::max(request.gpus / request.nvlink_gpus, 1) * request.nvlink_gpus;
    if (request.max_gpus > 0) request.max_gpus = std::max(request.max_gpus, request.gpus);
  }
  return made;
}

}  // namespace almanac
