// SPDX-License-Identifier: Apache-2.0

/// \file
/// Figures of the published traces against the numbers that the papers print or draw, as far as the
/// traces at hand go.
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cluster/cluster.h"
#include "stats/quantile.h"
#include "study/duration_cdf.h"
#include "study/figures.h"
#include "support/shared_data.h"
#include "table/csv_reader.h"
#include "text/datetime.h"
#include "text/number.h"
#include "trace/read.h"
#include "trace/select.h"

namespace almanac::study {
namespace {

trace::Trace read(const std::string& path) {
  auto trace = trace::read_trace(path);
  if (!trace) {
    ADD_FAILURE() << to_string(trace.error());
    return {};
  }
  return std::move(*trace);
}

figure::Figure drawn(const Study& study, const std::string& id) {
  for (figure::Section& section : draw_all(study).sections) {
    for (figure::Figure& figure : section.figures) {
      if (figure.id == id) return std::move(figure);
    }
  }
  ADD_FAILURE() << id << " is not drawn";
  return {};
}

/// The months at hand cannot have more jobs than the six that the paper draws, and their curve is
/// much like it; up to 2^17 s, for longer durations are cut at 48 h in this trace.
TEST(PublishedFigures, VenusStaysWithinTheCurvesOfTheWholeTrace) {
  const auto path = shared_path("data/traces/helios_venus_gpu_2020-03_to_08.csv.gz");
  const auto golden = shared_path("golden/helios_figures/fig1_5_6.json");
  if (!path || !golden) GTEST_SKIP() << "the shared traces are not here";
  const trace::Trace trace = read(*path);
  const cluster::Cluster cluster = cluster::uniform(133, 8);
  const Study study(trace, cluster);
  const auto published = nlohmann::json::parse(std::ifstream(*golden));
  const figure::Figure durations = drawn(study, "helios_fig5a");
  const auto& counts = published.at("fig5").at("GPU_Venus");
  for (std::size_t octave = 0; octave <= 17; ++octave) {
    EXPECT_LE(durations["count"].numbers[octave], counts[octave].get<double>()) << octave;
    EXPECT_NEAR(durations["fraction"].numbers[octave], counts[octave].get<double>() / 125303, 0.03)
        << octave;
  }
}

/// The Helios paper's conversion of Philly: submitted from 1 October 2017, duration = last end -
/// first start, and > 0. The raw list is read here once more, with nothing of ours.
TEST(PublishedFigures, PhillyIsConvertedAsHeliosDid) {
  const auto path = shared_path("data/traces/philly_2017-08_to_11.csv.gz");
  if (!path) GTEST_SKIP() << "the shared traces are not here";
  trace::Trace trace = read(*path);
  trace::Sample sample;
  sample.from = *text::parse_datetime("2017-10-01");
  ASSERT_TRUE(trace::keep_sample(trace, sample));
  const cluster::Cluster cluster = cluster::uniform(552, 8);
  const figure::Figure figure = drawn(Study(trace, cluster), "helios_fig1a");

  auto csv = table::CsvReader::open(*path);
  ASSERT_TRUE(csv);
  std::vector<double> spans;
  while (csv->next().value_or(false)) {
    if ((*csv)[*csv->find("submit_time")] < "2017-10-01") continue;
    const auto span = text::parse_decimal((*csv)[*csv->find("e2e_seconds")]);
    if (span && *span > 0) spans.push_back(*span);
  }
  EXPECT_EQ(figure.n, static_cast<std::int64_t>(spans.size()));
  for (std::size_t octave = 0; octave < figure.rows(); ++octave) {
    const double limit = std::exp2(octave);
    EXPECT_EQ(figure["count"].numbers[octave],
              std::count_if(spans.begin(), spans.end(), [&](double s) { return s <= limit; }));
  }
}

}  // namespace
}  // namespace almanac::study
