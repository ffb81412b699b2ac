// SPDX-License-Identifier: Apache-2.0
#include "cluster/read.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "cluster/read_toml.h"
#include "cluster/slurm_file.h"
#include "table/csv_reader.h"
#include "table/stream.h"
#include "text/datetime.h"
#include "text/number.h"

namespace almanac::cluster {
namespace {

using table::CsvReader;

/// Reads field `column` of the present row as a whole number of 0 or more.
Result<int> count_in(const CsvReader& csv, std::size_t column) {
  const auto value = text::parse_whole(csv[column]);
  if (value && *value >= 0 && *value <= 1'000'000) return static_cast<int>(*value);
  return fail(Code::invalid,
              fmt::format("{} must be a whole number of 0 or more, found \"{}\"",
                          csv.header()[column], csv[column]),
              csv.where());
}

/// Reads field `column` of the present row as an amount of cores or memory.
Result<double> amount_in(const CsvReader& csv, std::size_t column) {
  constexpr double kMost = 1e9;  // thousandths of cores, MiB
  const auto value = text::parse_decimal(csv[column]);
  if (value && *value >= 0 && *value <= kMost) return *value;
  return fail(Code::invalid,
              fmt::format("{} must be a number from 0 to {}, found \"{}\"", csv.header()[column],
                          kMost, csv[column]),
              csv.where());
}

Result<int> gpus_in(const CsvReader& csv, std::size_t column) {
  Result<int> gpus = count_in(csv, column);
  if (gpus && *gpus > kMaxGpusPerNode) {
    return fail(Code::invalid,
                fmt::format("a node has at most {} GPUs: {}", kMaxGpusPerNode, *gpus), csv.where());
  }
  return gpus;
}

/// Calls `row` for each row; stops at the first error.
template <typename Row>
Result<void> for_each_row(CsvReader& csv, Row&& row) {
  for (;;) {
    const Result<bool> more = csv.next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    if (Result<void> done = row(); !done) return done;
  }
}

Result<Cluster> read_openb_nodes(CsvReader& csv) {
  const auto sn = *csv.find("sn");
  const auto cpu = *csv.find("cpu_milli");
  const auto memory = *csv.find("memory_mib");
  const auto gpu = *csv.find("gpu");
  const auto model = *csv.find("model");
  Cluster made;
  made.takes_every_job = true;
  made.add_vc("all");
  int without_gpu = 0;
  const auto done = for_each_row(csv, [&]() -> Result<void> {
    const Result<int> gpus = gpus_in(csv, gpu);
    if (!gpus) return tl::unexpected(gpus.error());
    const Result<double> cpu_milli = amount_in(csv, cpu);
    if (!cpu_milli) return tl::unexpected(cpu_milli.error());
    const Result<double> memory_mib = amount_in(csv, memory);
    if (!memory_mib) return tl::unexpected(memory_mib.error());
    made.add_nodes({.gpus = *gpus,
                    .gpu_type = std::string(csv[model]),
                    .cpus = *cpu_milli / 1000,
                    .memory_gb = *memory_mib / 1024},
                   1, {std::string(csv[sn])});
    without_gpu += *gpus == 0 ? 1 : 0;
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  if (without_gpu > 0) {
    made.notes.push_back(fmt::format("{} of {} nodes have no GPU", without_gpu, made.nodes.size()));
  }
  return made;
}

Result<Cluster> read_philly_vcs(CsvReader& csv) {
  const auto vc = *csv.find("vc");
  const auto nodes = *csv.find("node num");
  Cluster made;
  const auto done = for_each_row(csv, [&]() -> Result<void> {
    const Result<int> count = count_in(csv, nodes);
    if (!count) return tl::unexpected(count.error());
    made.add_vc(std::string(csv[vc]));
    made.add_nodes({.gpus = 8}, static_cast<std::uint32_t>(*count));
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  return made;
}

Result<Cluster> read_philly_machines(CsvReader& csv) {
  Cluster made;
  made.takes_every_job = true;
  made.add_vc("all");
  const auto done = for_each_row(csv, [&]() -> Result<void> {
    const Result<int> gpus = gpus_in(csv, 1);
    if (!gpus) return tl::unexpected(gpus.error());
    made.add_nodes({.gpus = *gpus}, 1, {std::string(csv[0])});
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  return made;
}

Result<Cluster> parse_shorthand(const std::string& text, std::size_t cross) {
  const auto nodes = text::parse_whole(std::string_view(text).substr(0, cross));
  const auto gpus = text::parse_whole(std::string_view(text).substr(cross + 1));
  if (!nodes || !gpus || *nodes < 1 || *nodes > 1'000'000 || *gpus < 1 || *gpus > kMaxGpusPerNode) {
    return fail(Code::usage,
                fmt::format("a cluster must be NxG: N nodes of G GPUs, N from 1, G from 1 to {}, "
                            "found {}",
                            kMaxGpusPerNode, text));
  }
  return uniform(static_cast<std::uint32_t>(*nodes), static_cast<int>(*gpus));
}

}  // namespace

Result<Cluster> read_vc_table(const std::string& path, int gpus_per_node) {
  Result<CsvReader> opened = CsvReader::open(path);
  if (!opened) return tl::unexpected(opened.error());
  CsvReader& csv = *opened;
  struct Day {
    Time at;
    std::vector<int> nodes;
  };
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < csv.header().size(); ++column) {
    if (csv.header()[column] != "date" && csv.header()[column] != "total")
      columns.push_back(column);
  }
  std::vector<Day> days;
  bool uneven = false;
  const auto done = for_each_row(csv, [&]() -> Result<void> {
    const auto at = text::parse_datetime(csv[*csv.find("date")]);
    if (!at) {
      return fail(Code::invalid, fmt::format("date must be YYYY-MM-DD, found \"{}\"", csv[0]),
                  csv.where());
    }
    if (!days.empty() && *at <= days.back().at) {
      return fail(Code::invalid, "days must ascend", csv.where());
    }
    Day day{*at, {}};
    for (const std::size_t column : columns) {
      const Result<int> gpus = count_in(csv, column);
      if (!gpus) return tl::unexpected(gpus.error());
      uneven = uneven || *gpus % gpus_per_node != 0;
      day.nodes.push_back(*gpus / gpus_per_node);
    }
    days.push_back(std::move(day));
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  if (days.empty()) return fail(Code::invalid, "no day", {.file = path, .line = 2});

  Cluster made;
  for (std::size_t position = 0; position < columns.size(); ++position) {
    int most = 0;
    for (const Day& day : days) most = std::max(most, day.nodes[position]);
    if (most == 0) continue;
    const VcId vc{static_cast<std::uint32_t>(made.vcs.size())};
    made.add_vc(csv.header()[columns[position]]);
    made.add_nodes({.gpus = gpus_per_node}, static_cast<std::uint32_t>(most));
    int before = most;
    for (const Day& day : days) {
      const int now = day.nodes[position];
      if (now == before) continue;
      // The first day's sizes hold for all time before, too.
      made.changes.push_back({&day == &days.front() ? Time::min() : day.at, vc, now});
      before = now;
    }
  }
  std::stable_sort(made.changes.begin(), made.changes.end(),
                   [](const CapacityChange& a, const CapacityChange& b) { return a.at < b.at; });
  if (uneven) {
    made.notes.push_back(
        fmt::format("GPUs left out because they do not fill a node of {}", gpus_per_node));
  }
  return made;
}

Result<Cluster> read_cluster(const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross != std::string::npos && cross > 0 &&
      text.find_first_not_of("0123456789x") == std::string::npos) {
    return parse_shorthand(text, cross);
  }
  if (text.ends_with(".toml")) return read_toml(text);
  if (const auto content = table::read_text_file(text); content && is_sinfo_text(*content)) {
    const auto site = read_sinfo(text, *content);
    if (!site) return tl::unexpected(site.error());
    return cluster_of(*site, text);
  }
  Result<CsvReader> csv = CsvReader::open(text);
  if (!csv) {
    Error error = csv.error();
    if (error.hint.empty() && error.code == Code::not_found)
      error.hint = "give a cluster file, or NxG for N nodes of G GPUs, as in 20x8";
    return tl::unexpected(error);
  }
  const auto has = [&](const char* column) { return csv->find(column).has_value(); };
  Result<Cluster> made =
      has("date") && has("total") ? read_vc_table(text)
      : has("sn") && has("cpu_milli") && has("memory_mib") && has("gpu") && has("model")
          ? read_openb_nodes(*csv)
      : has("vc") && has("node num") ? read_philly_vcs(*csv)
      : has("machineId") && csv->header().size() >= 2
          ? read_philly_machines(*csv)
          : fail(Code::invalid,
                 fmt::format("not a cluster file: its columns are {}",
                             fmt::join(csv->header(), ", ")),
                 {.file = text, .line = 1},
                 "see docs/reference/formats.md, or write a cluster as NxG");
  if (made && made->gpus() == 0) {
    return fail(Code::invalid, "the cluster has no node with a GPU", {.file = text});
  }
  return made;
}

}  // namespace almanac::cluster
