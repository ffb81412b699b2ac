// SPDX-License-Identifier: Apache-2.0

/// \file
/// Seconds to read a job log: makes one of a million rows, packs it, reads it. One thread; the file
/// is in the page cache. Processor time is what a busy machine does not blur.
///
///   read_bench [rows] [repeats]
///
/// Prints CSV: format,packing,rows,mb_packed,wall_s,cpu_s,rows_per_cpu_s (the best of the repeats).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <stdlib.h>

#include "base/rng.h"
#include "table/csv_writer.h"
#include "table/output_file.h"
#include "text/datetime.h"
#include "trace/read.h"

namespace {

using namespace almanac;
using Clock = std::chrono::steady_clock;

/// One job of the log that is made, much like those of a real one.
struct Row {
  std::uint64_t number;
  Time submit;
  Duration wait, run;
  std::uint64_t gpus, name, user, vc;
  const char* state;
};

template <class Write>
void make_rows(std::int64_t rows, Write write) {
  constexpr const char* kStates[] = {"COMPLETED", "FAILED", "CANCELLED"};
  Rng rng(1);
  Time submit{1585699200s};
  for (std::int64_t i = 1; i <= rows; ++i) {
    submit += std::chrono::seconds(rng.below(20));
    const auto run = static_cast<std::int64_t>(150 * std::exp(2 * rng.normal()));
    write(Row{static_cast<std::uint64_t>(i), submit, std::chrono::seconds(rng.below(100)),
              std::chrono::seconds(run), std::uint64_t{1} << rng.below(4), rng.below(5000),
              rng.below(500), rng.below(20), kStates[rng.below(3)]});
  }
}

void make_ours(std::int64_t rows, table::OutputFile& out) {
  table::CsvWriter csv(out);
  csv.header({"job_id", "submit_s", "run_s", "gpus", "name", "user", "vc", "cpus", "start_s",
              "end_s", "state"});
  make_rows(rows, [&](const Row& row) {
    csv.whole(row.number).time(row.submit).duration(row.run).whole(row.gpus);
    csv.text(fmt::format("train_{}", row.name)).text(fmt::format("u{:04}", row.user));
    csv.text(fmt::format("vc{}", row.vc)).whole(row.gpus * 6).time(row.submit + row.wait);
    csv.time(row.submit + row.wait + row.run).text(row.state).end_row();
  });
  csv.flush();
}

void make_helios(std::int64_t rows, table::OutputFile& out) {
  table::CsvWriter csv(out);
  csv.header({"job_id", "user", "vc", "gpu_num", "cpu_num", "node_num", "state", "submit_time",
              "start_time", "end_time", "duration", "queue"});
  make_rows(rows, [&](const Row& row) {
    csv.whole(row.number).text(fmt::format("u{:04}", row.user)).text(fmt::format("vc{}", row.vc));
    csv.whole(row.gpus).whole(row.gpus * 6).whole(1).text(row.state);
    csv.text(text::format_datetime(row.submit)).text(text::format_datetime(row.submit + row.wait));
    csv.text(text::format_datetime(row.submit + row.wait + row.run)).duration(row.run);
    csv.duration(row.wait).end_row();
  });
  csv.flush();
}

struct Cost {
  double wall_s = 1e9;
  double cpu_s = 1e9;
};

Cost best_of(int repeats, const std::string& path) {
  Cost best;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = Clock::now();
    const std::clock_t cpu_begin = std::clock();
    const auto trace = trace::read_trace(path);
    if (!trace) {
      fmt::print(stderr, "{}\n", to_string(trace.error()));
      std::exit(1);
    }
    best.wall_s =
        std::min(best.wall_s, std::chrono::duration<double>(Clock::now() - begin).count());
    best.cpu_s = std::min(best.cpu_s, static_cast<double>(std::clock() - cpu_begin) /
                                          static_cast<double>(CLOCKS_PER_SEC));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 3;
  std::string folder = (std::filesystem::temp_directory_path() / "read-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  fmt::print("format,packing,rows,mb_packed,wall_s,cpu_s,rows_per_cpu_s\n");
  for (const bool helios : {false, true}) {
    for (const char* packing : {"", ".gz", ".zst"}) {
      const std::string path = folder + "/t.csv" + packing;
      auto out = table::OutputFile::create(path);
      if (!out) return 1;
      helios ? make_helios(rows, *out) : make_ours(rows, *out);
      if (!out->commit()) return 1;
      const Cost cost = best_of(repeats, path);
      fmt::print("{},{},{},{:.1f},{:.3f},{:.3f},{:.0f}\n", helios ? "helios" : "almanac",
                 *packing == '\0' ? "none" : packing + 1, rows,
                 static_cast<double>(std::filesystem::file_size(path)) / 1e6, cost.wall_s,
                 cost.cpu_s, static_cast<double>(rows) / cost.cpu_s);
      std::fflush(stdout);
    }
  }
  std::filesystem::remove_all(folder);
}
