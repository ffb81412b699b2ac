// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "perf/measurement.h"
#include "table/csv_writer.h"

namespace almanac::perf {
namespace {

std::string_view word(Measurement::Task task) {
  switch (task) {
    case Measurement::Task::training:
      return "training";
    case Measurement::Task::inference:
      return "inference";
    case Measurement::Task::not_said:
      break;
  }
  return "";
}

}  // namespace

Result<void> write_profile(const Profile& profile, const std::string& path) {
  auto file = table::OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  table::CsvWriter csv(*file);
  csv.header({"model", "batch", "gpu_type", "gpus", "nodes", "cpus_per_gpu", "memory_gb_per_gpu",
              "neighbour", "neighbour_batch", "throughput", "throughput_low", "throughput_high",
              "task"});
  for (const Measurement& row : profile.rows) {
    csv.text(row.model).decimal(row.batch).text(row.gpu_type).whole(row.gpus).whole(row.nodes);
    csv.decimal(row.cpus_per_gpu).decimal(row.memory_gb_per_gpu).text(row.neighbour);
    row.neighbour.empty() ? csv.missing() : csv.decimal(row.neighbour_batch);
    csv.decimal(row.throughput).decimal(row.low).decimal(row.high).text(word(row.task)).end_row();
  }
  csv.flush();
  return file->commit();
}

}  // namespace almanac::perf
