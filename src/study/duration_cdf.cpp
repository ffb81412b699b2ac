// SPDX-License-Identifier: Apache-2.0
#include "study/duration_cdf.h"

#include <algorithm>
#include <array>

namespace almanac::study {

figure::Figure duration_cdf(const Study& study, std::span<const std::uint32_t> jobs,
                            std::vector<figure::Reference> references) {
  std::array<std::int64_t, kLastOctave + 2> in_octave{};
  for (const std::uint32_t at : jobs) {
    const std::int64_t ms = duration_of(study.job(at)).count();
    int octave = 0;
    while (octave <= kLastOctave && (std::int64_t{1000} << octave) < ms) ++octave;
    ++in_octave[static_cast<std::size_t>(octave)];
  }
  figure::Figure figure;
  figure.n = static_cast<std::int64_t>(jobs.size());
  auto& duration = figure.number("duration_s", "Duration", figure::Unit::seconds);
  auto& count = figure.number("count", "Jobs up to this duration", figure::Unit::jobs);
  auto& fraction = figure.number("fraction", "Share of the jobs", figure::Unit::fraction);
  std::int64_t below = 0;
  for (int octave = 0; octave <= kLastOctave; ++octave) {
    below += in_octave[static_cast<std::size_t>(octave)];
    duration.add(static_cast<double>(std::int64_t{1} << octave));
    count.add(static_cast<double>(below));
    fraction.add(static_cast<double>(below) / static_cast<double>(jobs.size()));
  }
  figure.charts.push_back({.kind = "line",
                           .x = "duration_s",
                           .y = {"fraction"},
                           .x_scale = "log",
                           .references = std::move(references)});
  return figure;
}

figure::Reference published_cdf(std::string name, std::span<const double> counts, double total) {
  figure::Reference reference{.name = std::move(name), .x = {}, .y = {}};
  for (std::size_t octave = 0; octave < counts.size(); ++octave) {
    reference.x.push_back(static_cast<double>(std::int64_t{1} << octave));
    reference.y.push_back(counts[octave] / total);
  }
  return reference;
}

std::vector<double> sorted_durations(const Study& study, std::span<const std::uint32_t> jobs) {
  std::vector<double> durations;
  durations.reserve(jobs.size());
  for (const std::uint32_t at : jobs) durations.push_back(seconds(duration_of(study.job(at))));
  std::sort(durations.begin(), durations.end());
  return durations;
}

}  // namespace almanac::study
