// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/profile/sheet.h"
#include "serving/gpulet.h"
#include "serving/recipe/comparison.h"
#include "table/stream.h"

namespace almanac::inference::published {
namespace {

using nlohmann::json;

Result<json> read_document(const std::string& path) try {
  const auto content = table::read_text_file(path);
  if (!content) return tl::unexpected(content.error());
  return json::parse(*content);
} catch (const json::exception& error) {
  return fail(Code::invalid, error.what(), {.file = path});
}

/// Networks of one kind share what was measured of one of them: lenet1 has the traffic of lenet.
bool is_of(const std::string& model, const std::string& measured) {
  return model == measured ||
         (model.starts_with(measured) &&
          model.find_first_not_of("0123456789", measured.size()) == std::string::npos);
}

struct Assembly {
  const char* column;  // "" = the same for all batches
  double factor;
};
Assembly assembly_of(const std::string& model) {
  if (model.starts_with("lenet")) return {"", 0.4};
  if (model.starts_with("bert")) return {"", 1.0};
  if (model.starts_with("ssd")) return {"3x300x300", 2.5};
  return {"3x224x224", 1.9};
}

Result<void> read_models(const std::string& folder, GpuletProfile& made) {
  const auto models =
      Sheet::read(folder + "/models.csv", {"id", "model", "memory_mib", "input_bytes"});
  if (!models) return tl::unexpected(models.error());
  const auto shapes =
      Sheet::read(folder + "/batch_concat_ms.csv", {"batch", "3x224x224", "3x300x300"});
  if (!shapes) return tl::unexpected(shapes.error());
  for (std::size_t row = 0; row < models->rows(); ++row) {
    const auto id = models->number("id", row);
    const auto memory = models->number("memory_mib", row);
    const auto bytes = models->number("input_bytes", row);
    for (const auto* cell : {&id, &memory, &bytes}) {
      if (!*cell) return tl::unexpected(cell->error());
    }
    GpuletModel& model = made.models[models->text("model", row)];
    if (!(*memory > 0 && *memory < 1e7 && *bytes >= 0 && *bytes < 1e12 && std::abs(*id) < 1e6)) {
      return fail(Code::invalid, "memory must be above 0, input_bytes 0 or more",
                  {.file = folder + "/models.csv", .line = static_cast<std::int64_t>(row + 2)});
    }
    model.id = static_cast<int>(*id);
    model.memory_mib = *memory;
    model.input_bytes = *bytes;
    const Assembly assembly = assembly_of(models->text("model", row));
    for (std::size_t batch = 0; batch < shapes->rows(); ++batch) {
      const auto each =
          *assembly.column == '\0' ? Result<double>(1.0) : shapes->number(assembly.column, batch);
      if (!each) return tl::unexpected(each.error());
      if (*each < 0) {
        return fail(Code::invalid, "assembling a batch cannot take less than 0 ms",
                    {.file = folder + "/batch_concat_ms.csv",
                     .line = static_cast<std::int64_t>(batch + 2)});
      }
      model.assembly.push_back(*each * assembly.factor);
    }
  }
  return {};
}

Result<void> read_latencies(const std::string& folder, GpuletProfile& made) {
  const auto paths = files(folder, "latency_profile", ".csv");
  if (!paths) return tl::unexpected(paths.error());
  for (const std::string& path : *paths) {
    const auto sheet = Sheet::read(path, {"model", "share_percent", "batch", "latency_ms"});
    if (!sheet) return tl::unexpected(sheet.error());
    for (std::size_t row = 0; row < sheet->rows(); ++row) {
      const auto found = made.models.find(sheet->text("model", row));
      if (found == made.models.end()) continue;
      const auto share = sheet->number("share_percent", row);
      const auto batch = sheet->number("batch", row);
      const auto latency = sheet->number("latency_ms", row);
      for (const auto* cell : {&share, &batch, &latency}) {
        if (!*cell) return tl::unexpected(cell->error());
      }
      auto& latencies = found->second.latency[static_cast<int>(*share)];
      if (*batch != static_cast<double>(latencies.size() + 1) || *latency <= 0) {
        return fail(Code::invalid, "batches must go up from 1 by 1, latencies be above 0",
                    {.file = path, .line = static_cast<std::int64_t>(row + 2)});
      }
      latencies.push_back(*latency);
    }
  }
  return {};
}

Result<void> read_traffic(const std::string& folder, const std::string& device,
                          GpuletProfile& made) {
  const auto sheet = Sheet::read(folder + "/util_" + device + ".csv",
                                 {"model", "batch", "l2_percent", "dram_percent"});
  if (!sheet) return tl::unexpected(sheet.error());
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    const auto batch = sheet->number("batch", row);
    const auto l2 = sheet->number("l2_percent", row);
    const auto dram = sheet->number("dram_percent", row);
    for (const auto* cell : {&batch, &l2, &dram}) {
      if (!*cell) return tl::unexpected(cell->error());
    }
    if (*batch < 1 || *batch > 1e6 || *l2 < 0 || *dram < 0) {
      return fail(Code::invalid, "batches must be above 0, percents 0 or more",
                  {.file = folder + "/util_" + device + ".csv",
                   .line = static_cast<std::int64_t>(row + 2)});
    }
    for (auto& [name, model] : made.models) {
      if (!is_of(name, sheet->text("model", row))) continue;
      model.traffic[static_cast<int>(*batch)] = {*l2 / 100, *dram / 100};
    }
  }
  const std::string path = folder + "/interference_constants.csv";
  const auto constants =
      Sheet::read(path, {"device", "own_l2", "other_l2", "own_dram", "other_dram", "constant"});
  if (!constants) return tl::unexpected(constants.error());
  for (std::size_t row = 0; row < constants->rows(); ++row) {
    if (constants->text("device", row) != device) continue;
    for (const auto& [column, into] :
         {std::pair("own_l2", &made.own_l2), std::pair("other_l2", &made.other_l2),
          std::pair("own_dram", &made.own_dram), std::pair("other_dram", &made.other_dram),
          std::pair("constant", &made.constant)}) {
      const auto value = constants->number(column, row);
      if (!value) return tl::unexpected(value.error());
      *into = *value;
    }
    return {};
  }
  return fail(Code::not_found, "has no device " + device, {.file = path});
}

}  // namespace

Result<GpuletProfile> read_gpulet(const std::string& folder) {
  const std::string path = folder + "/configs.json";
  const auto told = read_document(path);
  if (!told) return tl::unexpected(told.error());
  GpuletProfile made;
  std::string device;
  try {
    device = told->at("device").get<std::string>();
    made.memory_mib = told->at("device_memory_mib").get<double>();
    made.stretch = told->at("latency_ratio").get<double>();
    made.tasks = told->at("max_models_per_gpulet").get<std::size_t>();
    made.batch = told->at("max_batch").get<int>();
    if (made.memory_mib <= 0 || made.stretch <= 0 || made.batch < 1 || made.batch > 1'000'000) {
      return fail(Code::invalid, "memory, latency_ratio and max_batch must be above 0",
                  {.file = path});
    }
  } catch (const json::exception& error) {
    return fail(Code::invalid, error.what(), {.file = path});
  }
  if (auto done = read_models(folder, made); !done) return tl::unexpected(done.error());
  if (auto done = read_latencies(folder, made); !done) return tl::unexpected(done.error());
  if (auto done = read_traffic(folder, device, made); !done) return tl::unexpected(done.error());
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

Result<std::map<std::string, GpuletSetting>> read_gpulet_settings(const std::string& path) try {
  const auto told = read_document(path);
  if (!told) return tl::unexpected(told.error());
  std::map<std::string, GpuletSetting> made;
  for (const auto& [name, setting] : told->at("configs").items()) {
    made[name] = {.gpus = setting.at("gpus").get<int>(),
                  .interference = setting.at("interference").get<int>() != 0,
                  .parts = setting.at("partition").get<int>() != 0,
                  .greedy = setting.at("self_tuning").get<int>() != 0};
    if (made[name].gpus < 1 || made[name].gpus > 10'000) {
      return fail(Code::invalid, name + ": expected 1 to 10,000 GPUs", {.file = path});
    }
  }
  return made;
} catch (const json::exception& error) {
  return fail(Code::invalid, error.what(), {.file = path});
}

}  // namespace almanac::inference::published
