// SPDX-License-Identifier: Apache-2.0

/// \file
/// Recognizes tables that come with job logs and describe a cluster, to refuse them as job logs
/// with a helpful message. The room `cluster` reads them.
#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "trace/format.h"

namespace almanac::trace {

void register_cluster_files(Formats& registry);

namespace {

bool starts_with(const Head& head, std::initializer_list<std::string_view> names) {
  const auto columns = head.columns(',');
  return columns.size() >= names.size() && std::equal(names.begin(), names.end(), columns.begin());
}

void add(Formats& registry, const char* name, const char* what, bool (*is_it)(const Head&)) {
  Format format;
  format.name = name;
  format.summary = fmt::format("{}; a cluster file, not a job log", what);
  format.likeness = [is_it](const Head& head) { return is_it(head) ? 1.0 : 0.0; };
  format.read = [what](const std::string& path, Intake&) -> Result<void> {
    return fail(Code::unsupported,
                fmt::format("this is the {}, a cluster file, not a job log", what), {path},
                "pass it as --cluster");
  };
  registry.add(std::move(format));
}

}  // namespace

void register_cluster_files(Formats& registry) {
  add(registry, "helios-vc", "Helios per-day VC table", [](const Head& head) {
    const auto columns = head.columns(',');
    return columns.size() > 2 && columns.front() == "date" && columns.back() == "total";
  });
  add(registry, "openb-nodes", "openb node list", [](const Head& head) {
    return starts_with(head, {"sn", "cpu_milli", "memory_mib", "gpu"});
  });
  add(registry, "philly-machines", "Philly machine list", [](const Head& head) {
    return starts_with(head, {"machineId", "number of GPUs"});
  });
  add(registry, "philly-vc", "Philly VC table", [](const Head& head) {
    return starts_with(head, {"vc", "node num"});
  });
}

}  // namespace almanac::trace
