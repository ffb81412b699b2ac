// SPDX-License-Identifier: Apache-2.0
#include "reproduce/gpulet_data.h"

#include <cmath>
#include <utility>

#include "reproduce/read.h"

namespace almanac::reproduce {
namespace {

using namespace deployment::gpulet;

/// Networks of one kind share what was measured of one of them: lenet1 has the traffic of lenet.
bool is_of(const std::string& model, std::string_view measured) {
  return model == measured ||
         (model.starts_with(measured) &&
          model.find_first_not_of("0123456789", measured.size()) == std::string::npos);
}

struct Assembly {
  std::string_view column;  // "" = the same for all batches
  double factor;
};
Assembly assembly_of(std::string_view model) {
  if (model.starts_with("lenet")) return {"", 0.4};
  if (model.starts_with("bert")) return {"", 1.0};
  if (model.starts_with("ssd")) return {"3x300x300", 2.5};
  return {"3x224x224", 1.9};
}

std::vector<double> read_assembly(const std::string& path, const Assembly& assembly) {
  std::vector<double> made;
  Rows shapes(path, {"batch", "3x224x224", "3x300x300"});
  while (shapes.next()) {
    const double each = assembly.column.empty() ? 1 : shapes.number(assembly.column);
    shapes.require(each >= 0, "assembling a batch cannot take less than 0 ms");
    made.push_back(each * assembly.factor);
  }
  return made;
}

void read_models(const Bench& bench, const File& configs, GpuletProfile& made) {
  const std::string shapes = bench.beside(configs, "batch_concat_ms.csv").path;
  Rows models(bench.beside(configs, "models.csv").path,
              {"id", "model", "memory_mib", "input_bytes"});
  while (models.next()) {
    const std::string name(models.text("model"));
    const double id = models.number("id");
    GpuletModel& model = made.models[name];
    model.memory_mib = models.number("memory_mib");
    model.input_bytes = models.number("input_bytes");
    models.require(model.memory_mib > 0 && model.memory_mib < 1e7 && model.input_bytes >= 0 &&
                       model.input_bytes < 1e12 && std::abs(id) < 1e6,
                   "memory must be above 0, input_bytes 0 or more");
    model.id = static_cast<int>(id);
    model.assembly = read_assembly(shapes, assembly_of(name));
  }
}

void read_latencies(const File& file, GpuletProfile& made) {
  Rows rows(file.path, {"model", "share_percent", "batch", "latency_ms"});
  while (rows.next()) {
    const auto found = made.models.find(std::string(rows.text("model")));
    if (found == made.models.end()) continue;
    auto& latencies = found->second.latency[static_cast<int>(rows.number("share_percent"))];
    rows.require(rows.number("batch") == static_cast<double>(latencies.size() + 1) &&
                     rows.number("latency_ms") > 0,
                 "batches must go up from 1 by 1, latencies be above 0");
    latencies.push_back(rows.number("latency_ms"));
  }
}

void read_traffic(const std::string& path, GpuletProfile& made) {
  Rows rows(path, {"model", "batch", "l2_percent", "dram_percent"});
  while (rows.next()) {
    const double batch = rows.number("batch");
    const double l2 = rows.number("l2_percent");
    const double dram = rows.number("dram_percent");
    rows.require(batch >= 1 && batch <= 1e6 && l2 >= 0 && dram >= 0,
                 "batches must be above 0, percents 0 or more");
    for (auto& [name, model] : made.models) {
      if (!is_of(name, rows.text("model"))) continue;
      model.traffic[static_cast<int>(batch)] = {l2 / 100, dram / 100};
    }
  }
}

void read_interference(const std::string& path, const std::string& device, GpuletProfile& made) {
  Rows rows(path, {"device", "own_l2", "other_l2", "own_dram", "other_dram", "constant"});
  while (rows.next()) {
    if (rows.text("device") != device) continue;
    made.own_l2 = rows.number("own_l2");
    made.other_l2 = rows.number("other_l2");
    made.own_dram = rows.number("own_dram");
    made.other_dram = rows.number("other_dram");
    made.constant = rows.number("constant");
    return;
  }
  rows.wrong("has no device " + device);
}

}  // namespace

GpuletProfile read_gpulet(const Bench& bench, const File& configs, const File& latencies) {
  const Json told = read_json(configs);
  const auto device = told.at("device").get<std::string>();
  GpuletProfile made{.memory_mib = told.at("device_memory_mib"),
                     .stretch = told.at("latency_ratio"),
                     .tasks = told.at("max_models_per_gpulet"),
                     .batch = told.at("max_batch")};
  require(made.memory_mib > 0 && made.stretch > 0 && made.batch >= 1 && made.batch <= 1'000'000,
          "memory, latency_ratio and max_batch must be above 0");
  read_models(bench, configs, made);
  read_latencies(latencies, made);
  read_traffic(bench.beside(configs, "util_" + device + ".csv").path, made);
  read_interference(bench.beside(configs, "interference_constants.csv").path, device, made);
  // A model of which nothing was measured cannot be planned.
  std::erase_if(made.models, [&](const auto& each) {
    const auto whole = static_cast<std::size_t>(made.batch);
    for (const int share : {20, 40, 50, 60, 80, 100}) {
      const auto found = each.second.latency.find(share);
      if (found == each.second.latency.end() || found->second.size() < whole) return true;
    }
    return each.second.assembly.size() < whole || each.second.traffic.empty();
  });
  return made;
}

std::map<std::string, GpuletSetting> read_gpulet_settings(const File& configs) {
  const Json told = read_json(configs);
  std::map<std::string, GpuletSetting> made;
  for (const auto& [name, setting] : told.at("configs").items()) {
    made[name] = {.gpus = setting.at("gpus"),
                  .interference = setting.at("interference").get<int>() != 0,
                  .parts = setting.at("partition").get<int>() != 0,
                  .greedy = setting.at("self_tuning").get<int>() != 0};
    require(made[name].gpus >= 1 && made[name].gpus <= 10'000,
            name + ": expected 1 to 10,000 GPUs");
  }
  return made;
}

}  // namespace almanac::reproduce
