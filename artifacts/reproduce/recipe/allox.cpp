// SPDX-License-Identifier: Apache-2.0

/// \file
/// AlloX over GPU types as Gavel's program plays it.
///
/// Source   Le et al., AlloX: Compute Allocation in Hybrid Clusters, EuroSys'20; Gavel's program.
#include <fmt/format.h>

#include "reproduce/gavel_data.h"
#include "reproduce/gavel_runs.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_allox(Recipes& registry);

namespace allox_recipe {
namespace {

constexpr const char* kAlone = "data/elastic/gavel/simulation_alone.csv";
constexpr const char* kRuns = "golden/elastic/gavel/allox_reference_runs*.csv";
constexpr const char* kJobs = "golden/elastic/gavel/continuous_allox*.csv";

/// Columns seed, mean_interarrival_s, avg_jct_s, utilisation; a run a row.
void compare_means(Bench& bench, const File& file, const Streams& streams,
                   const ModelSpeeds& speeds) {
  Rows rows(file.path, {"seed", "mean_interarrival_s", "avg_jct_s", "utilisation"});
  while (rows.next()) {
    const auto seed = static_cast<std::uint32_t>(rows.whole("seed"));
    const double gap_s = rows.number("mean_interarrival_s");
    const auto stream = streams.find(seed);
    rows.require(stream != streams.end(), "there is no stream of this seed");
    rows.require(gap_s > 0, "mean_interarrival_s must be positive");
    const StreamCourse played = play_stream(stream->second, speeds, gap_s, "allox", seed);
    const std::string what = fmt::format("{} seed {}, a job each {} s", file.stem, seed, gap_s);
    bench.add(mean_row(what + ": mean JCT", rows.number("avg_jct_s"), played, "s"));
    bench.add({.what = what + ": utilisation",
               .published = rows.number("utilisation"),
               .ours = played.course.utilisation,
               .remark = played.remark});
  }
}

void make(Bench& bench) {
  ModelSpeeds speeds;
  bench.each(kAlone, [&](const File& file) { speeds = ModelSpeeds(file.path); });
  const Streams streams = find_streams(bench);
  bench.each(kRuns, [&](const File& file) { compare_means(bench, file, streams, speeds); });
  bench.each(kJobs, [&](const File& file) { compare_stream(bench, file, streams, speeds); });
}

}  // namespace
}  // namespace allox_recipe

void register_allox(Recipes& registry) {
  using namespace allox_recipe;
  registry.add({.name = "allox",
                .summary = "AlloX on three types of GPUs, job by job",
                .paper = "Le et al., EuroSys'20; Narayanan et al., OSDI'20",
                .kind = Kind::rerun,
                .needs = {{kAlone, kGavelData},
                          {kStreams, "generated as the program of the paper does"},
                          {kRuns, kGavelRuns},
                          {kJobs, kGavelRuns}},
                .make = make});
}

}  // namespace almanac::reproduce
