// SPDX-License-Identifier: Apache-2.0

/// \file
/// Utilities of every choice of GPUs on a machine of two sockets.
///
/// Source   Amaral et al., SC'17, and the program published with it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "formulas/utility.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_topology(Recipes& registry);

namespace topology_recipe {
namespace {

constexpr const char* kMachine = "data/topology_aware/machine.json";
constexpr const char* kAlone = "data/topology_aware/solo_ms.csv";
constexpr const char* kBeside = "data/topology_aware/collocated_ms.csv";
constexpr const char* kCases = "golden/topology_aware/*.json";

using Measured = std::tuple<std::string, std::int64_t, std::int64_t>;  // model, batch, GPUs

struct Inputs {
  topology::Machine machine;
  std::map<std::string, topology::Weights> weights;
  std::map<Measured, std::array<double, 2>> alone;  // within a socket, across
  std::map<std::pair<Measured, Measured>, double> beside;
};

void read_machine(Inputs& inputs, const File& file) {
  const Json json = read_json(file);
  int socket = 0;
  for (const int gpus : json.at("gpus_per_socket").get<std::vector<int>>()) {
    require(gpus >= 0 && gpus <= 64, "gpus_per_socket must be from 0 to 64");
    inputs.machine.socket.insert(inputs.machine.socket.end(), static_cast<std::size_t>(gpus),
                                 socket);
    ++socket;
  }
  inputs.machine.distance = json.at("gpu_distance").get<std::vector<std::vector<double>>>();
  require(inputs.machine.distance.size() == inputs.machine.socket.size(),
          "a distance a pair of GPUs");
  for (const auto& row : inputs.machine.distance) {
    require(row.size() == inputs.machine.socket.size(), "a distance a pair of GPUs");
  }
  inputs.machine.least_cost = json.at("min_cost");
  for (int gpus = 1; gpus <= 3; ++gpus) {
    inputs.machine.least_communication[gpus] = json.at("min_comm_cost").at(std::to_string(gpus));
    inputs.machine.most_communication[gpus] = json.at("max_comm_cost").at(std::to_string(gpus));
  }
  for (const auto& [name, weights] : json.at("policies").items()) {
    inputs.weights[name] = {weights.at("communication"), weights.at("interference"),
                            weights.at("fragmentation")};
  }
}

Inputs read_inputs(Bench& bench) {
  Inputs inputs;
  bench.each(kMachine, [&](const File& file) { read_machine(inputs, file); });
  bench.each(kAlone, [&](const File& file) {
    Rows rows(file.path, {"model", "batch", "gpus", "intra_socket", "inter_socket"});
    while (rows.next()) {
      inputs.alone[{std::string(rows.text("model")), rows.whole("batch"), rows.whole("gpus")}] = {
          rows.number("intra_socket"), rows.number("inter_socket")};
    }
  });
  bench.each(kBeside, [&](const File& file) {
    Rows rows(file.path,
              {"model", "batch", "gpus", "other_model", "other_batch", "other_gpus", "time"});
    while (rows.next()) {
      inputs.beside[{{std::string(rows.text("model")), rows.whole("batch"), rows.whole("gpus")},
                     {std::string(rows.text("other_model")), rows.whole("other_batch"),
                      rows.whole("other_gpus")}}] = rows.number("time");
    }
  });
  return inputs;
}

topology::Times times(const Inputs& inputs) {
  return {.alone =
              [&](const topology::Kind& kind, int gpus, bool across) {
                const auto found = inputs.alone.find({kind.model, kind.batch, gpus});
                return found == inputs.alone.end() ? 0 : found->second.at(across ? 1 : 0);
              },
          .beside =
              [&](const topology::Kind& kind, int gpus, const topology::Kind& other, int held) {
                const auto found = inputs.beside.find(
                    {{kind.model, kind.batch, gpus}, {other.model, other.batch, held}});
                return found == inputs.beside.end() ? 0 : found->second;
              }};
}

topology::Kind read_kind(const Json& job) { return {job.at("model"), job.at("batch")}; }

std::vector<int> read_gpus(const Inputs& inputs, const Json& gpus) {
  const auto read = gpus.get<std::vector<int>>();
  for (const int gpu : read) {
    require(gpu >= 0 && static_cast<std::size_t>(gpu) < inputs.machine.socket.size(),
            "a GPU that the machine does not have");
  }
  return read;
}

void compare(Bench& bench, const Inputs& inputs, const File& file) {
  require(!inputs.weights.empty(), "needs machine.json");
  const topology::Times measured = times(inputs);
  std::size_t candidates = 0;
  std::size_t equal = 0;
  double worst = 0;
  each_case(file, [&](const Json& each) {
    const auto weights = inputs.weights.find(each.at("policy").get<std::string>());
    require(weights != inputs.weights.end(), "a policy that machine.json does not have");
    std::vector<topology::Resident> residents;
    for (const Json& job : each.at("running")) {
      residents.push_back({read_kind(job), read_gpus(inputs, job.at("gpus"))});
    }
    for (const Json& candidate : each.at("candidates")) {
      const std::vector<int> gpus = read_gpus(inputs, candidate.at("gpus"));
      require(!gpus.empty() && gpus.size() <= 3, "a job has one to three GPUs");
      const topology::Utility ours = topology::utility(inputs.machine, measured, weights->second,
                                                       read_kind(each.at("job")), gpus, residents);
      double furthest = 0;
      const auto near = [&](double value, const char* key) {
        const Json& there = candidate.at(key);
        if (there.is_null() || std::isnan(value)) {
          if (there.is_null() != std::isnan(value))
            furthest = std::numeric_limits<double>::infinity();
          return;
        }
        const double published = there;
        furthest = std::max(furthest, std::abs(value - published) / std::abs(published));
      };
      near(ours.communication, "communication");
      near(ours.suffered, "interference");
      near(ours.caused, "interference_on_others");
      near(ours.fragmentation, "fragmentation");
      near(ours.job, "job_utility");
      near(ours.system, "system_utility");
      ++candidates;
      equal += furthest <= 1e-12 ? 1 : 0;
      worst = std::max(worst, furthest);
    }
  });
  bench.add(fmt::format("{}: choices of GPUs with equal costs and utilities (1e-12)", file.name),
            static_cast<double>(candidates), static_cast<double>(equal), "choices");
  bench.add(fmt::format("{}: largest relative difference of a cost or utility", file.name), 0,
            worst, "");
}

}  // namespace
}  // namespace topology_recipe

void register_topology(Recipes& registry) {
  using namespace topology_recipe;
  const std::string from = "Amaral et al., SC'17: the program published with it";
  registry.add({.name = "topology",
                .summary = "utilities of each choice of GPUs on a machine of two sockets",
                .paper = "Amaral et al., SC'17",
                .kind = Kind::rerun,
                .needs = {{kMachine, from}, {kAlone, from}, {kBeside, from}, {kCases, from}},
                .make = [](Bench& bench) {
                  const Inputs inputs = read_inputs(bench);
                  bench.each(kCases, [&](const File& file) { compare(bench, inputs, file); });
                }});
}

}  // namespace almanac::reproduce
