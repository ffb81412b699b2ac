// SPDX-License-Identifier: Apache-2.0
#include "predict/model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "stats/mean.h"
#include "stats/quantile.h"

namespace almanac::predict {
namespace {

constexpr int kSpread = 1;

/// Cuts the cells into classes of about as many jobs each: the first cell of each, then kCells.
std::vector<std::size_t> cut(const Distribution& all, int classes) {
  std::vector<std::size_t> edges{0};
  double below = 0;
  for (std::size_t cell = 0; cell < Distribution::kCells; ++cell) {
    const double share = static_cast<double>(edges.size()) / classes;
    if (below >= share && edges.back() != cell) edges.push_back(cell);
    below += static_cast<double>(all.mass(cell));
  }
  edges.push_back(Distribution::kCells);
  return edges;
}

int class_of(const std::vector<std::size_t>& edges, double log) {
  const auto after = std::upper_bound(edges.begin(), edges.end(), Distribution::cell_of(log));
  return static_cast<int>(after - edges.begin()) - 1;
}

Boosted grow(std::span<const Example> examples, const std::vector<std::size_t>& edges,
             BoostOptions options) {
  std::vector<Row> rows;
  std::vector<int> labels;
  rows.reserve(examples.size());
  for (const Example& each : examples) {
    rows.push_back(each.seen.row);
    labels.push_back(class_of(edges, static_cast<double>(each.log)));
  }
  options.classes = static_cast<int>(edges.size()) - 1;
  return Boosted::fit(rows, labels, options);
}

/// The mass of each class.
std::vector<double> mass_of(const Distribution& of, const std::vector<std::size_t>& edges) {
  std::vector<double> masses;
  for (std::size_t at = 0; at + 1 < edges.size(); ++at) {
    double sum = 0;
    for (std::size_t cell = edges[at]; cell < edges[at + 1]; ++cell) {
      sum += static_cast<double>(of.mass(cell));
    }
    masses.push_back(sum);
  }
  return masses;
}

}  // namespace

Model::Model(Boosted trees, Parts parts)
    : trees_(std::move(trees)),
      parts_(std::move(parts)),
      all_classes_(mass_of(parts_.all, parts_.edges)) {}

Model::Near Model::near_of(const Nearby& nearby) const {
  Near made{.spread = nearby.spread(kSpread)};
  made.any = made.spread.total() > 0;
  if (made.any) made.spread.normalize();
  made.classes = mass_of(made.spread, parts_.edges);
  return made;
}

Distribution Model::spread(std::span<const float> classes, const Near& near,
                           double within_weight) const {
  Distribution made;
  for (std::size_t at = 0; at + 1 < parts_.edges.size(); ++at) {
    const double of_all = all_classes_[at];
    const double of_near = near.classes[at];
    const double by_near = of_near > 0 ? within_weight : 0;
    const auto mass = static_cast<double>(classes[at]);
    const auto to_all = static_cast<float>(of_all > 0 ? mass * (1 - by_near) / of_all : 0);
    const auto to_near = static_cast<float>(by_near > 0 ? mass * by_near / of_near : 0);
    for (std::size_t cell = parts_.edges[at]; cell < parts_.edges[at + 1]; ++cell) {
      made.add_cell(cell, to_all * parts_.all.mass(cell) + to_near * near.spread.mass(cell));
    }
  }
  made.normalize();
  return made;
}

Distribution Model::mix(const Distribution& of_classes, const Near& near, double nearby_weight) {
  if (!near.any) return of_classes;
  Distribution mixed;
  mixed.add(of_classes, static_cast<float>(1 - nearby_weight));
  mixed.add(near.spread, static_cast<float>(nearby_weight));
  return mixed;
}

Model Model::fit(std::span<const Example> examples, const ModelOptions& options) {
  ALMANAC_CHECK(examples.size() >= kFewest, "{} examples", examples.size());
  const auto held_out =
      static_cast<std::size_t>(options.held_out * static_cast<double>(examples.size()));
  // The trees are grown twice; the steps between take a tenth of that time.
  BoostOptions boost;
  const auto grown_before = [&](double before) {
    return [&options, before](double grown) { options.progress(before + 0.5 * grown); };
  };
  if (options.progress) boost.progress = grown_before(0);
  Parts parts = parts_of(examples, boost);
  const Model without(grow(examples.first(examples.size() - held_out), parts.edges, boost), parts);
  if (options.progress) boost.progress = grown_before(0.5);
  parts.calibration = without.calibrate(examples.last(held_out));
  return {grow(examples, parts.edges, boost), std::move(parts)};
}

Model Model::refit(std::span<const Example> examples, const Model& earlier, std::size_t fresh) {
  ALMANAC_CHECK(fresh >= kFewest && fresh <= examples.size(), "{} of {}", fresh, examples.size());
  const BoostOptions boost;
  Parts parts = parts_of(examples, boost);
  parts.calibration = earlier.calibrate(examples.last(fresh));
  return {grow(examples, parts.edges, boost), std::move(parts)};
}

Model::Parts Model::parts_of(std::span<const Example> examples, const BoostOptions& boost) {
  Distribution all;
  for (const Example& each : examples) all.add(static_cast<double>(each.log), 1, 2);
  // No length is impossible.
  for (std::size_t cell = 0; cell < Distribution::kCells; ++cell) all.add_cell(cell, 1e-3F);
  all.normalize();
  return {.edges = cut(all, boost.classes), .all = all};
}

Calibration Model::calibrate(std::span<const Example> examples) const {
  examples = examples.last(std::min(examples.size(), kCalibrated));
  Calibration made;
  const auto of = static_cast<std::size_t>(trees_.classes());
  std::vector<float> classes(examples.size() * of);
  std::vector<Near> near;
  near.reserve(examples.size());
  for (std::size_t at = 0; at < examples.size(); ++at) {
    trees_.predict(examples[at].seen.row, std::span(classes).subspan(at * of, of));
    near.push_back(near_of(examples[at].seen.nearby));
  }
  constexpr std::array kWithinWeights = {0.2, 0.5, 0.8};
  constexpr std::array kHalfWidths = {0.2, 0.3, 0.4, 0.5};
  std::array<std::vector<Distribution>, kWithinWeights.size()> of_classes;
  for (std::size_t within = 0; within < kWithinWeights.size(); ++within) {
    for (std::size_t at = 0; at < examples.size(); ++at) {
      of_classes[within].push_back(
          spread(std::span(classes).subspan(at * of, of), near[at], kWithinWeights[within]));
    }
  }

  double best = -1e300;
  double least = 1e300;
  std::size_t best_within = 0;
  std::array<std::vector<double>, kHalfWidths.size()> errors;
  errors.fill(std::vector<double>(examples.size()));
  for (const double nearby_weight : {0.0, 0.1, 0.2, 0.3, 0.45, 0.6}) {
    for (std::size_t within = 0; within < kWithinWeights.size(); ++within) {
      double likelihood = 0;
      for (std::size_t at = 0; at < examples.size(); ++at) {
        const Distribution mixed = mix(of_classes[within][at], near[at], nearby_weight);
        const auto log = static_cast<double>(examples[at].log);
        likelihood += std::log(static_cast<double>(mixed.mass(Distribution::cell_of(log))) + 1e-6);
        const auto middles = mixed.densest(kHalfWidths);
        for (std::size_t half = 0; half < kHalfWidths.size(); ++half) {
          errors[half][at] = std::abs(middles[half] - log);
        }
      }
      if (likelihood > best) {
        best = likelihood;
        best_within = within;
        made.nearby_weight = nearby_weight;
        made.within_weight = kWithinWeights[within];
      }
      for (std::size_t half = 0; half < kHalfWidths.size(); ++half) {
        // One quantile alone follows chance.
        double error = 0;
        for (const double q : {0.35, 0.45, 0.55, 0.65}) error += stats::quantile(errors[half], q);
        if (error < least) {
          least = error;
          made.mean_error = stats::mean(errors[half]);
          made.half_width = kHalfWidths[half];
          made.typical_nearby_weight = nearby_weight;
          made.typical_within_weight = kWithinWeights[within];
        }
      }
    }
  }
  std::vector<double> scores;
  std::vector<double> positions;
  for (std::size_t at = 0; at < examples.size(); ++at) {
    const Distribution d = mix(of_classes[best_within][at], near[at], made.nearby_weight);
    positions.push_back(d.position(static_cast<double>(examples[at].log)));
    scores.push_back(std::abs(2 * positions.back() - 1));
  }
  made.interval = stats::quantile(scores, 0.9);
  made.bound = stats::quantile(positions, 0.9);
  return made;
}

std::vector<double> Model::class_middles() const {
  std::vector<double> middles;
  for (std::size_t at = 0; at + 1 < parts_.edges.size(); ++at) {
    double mass = 0;
    double sum = 0;
    for (std::size_t cell = parts_.edges[at]; cell < parts_.edges[at + 1]; ++cell) {
      mass += static_cast<double>(parts_.all.mass(cell));
      sum += static_cast<double>(parts_.all.mass(cell)) * Distribution::middle(cell);
    }
    middles.push_back(sum / mass);
  }
  return middles;
}

Prediction Model::predict(const Seen& job) const {
  std::vector<float> classes(static_cast<std::size_t>(trees_.classes()));
  trees_.predict(job.row, classes);
  const Near near = near_of(job.nearby);
  const Calibration& found = parts_.calibration;
  const Distribution believed = spread(classes, near, found.within_weight);
  const Distribution typical = found.typical_within_weight == found.within_weight
                                   ? believed
                                   : spread(classes, near, found.typical_within_weight);
  return {.believed = mix(believed, near, found.nearby_weight),
          .typical = mix(typical, near, found.typical_nearby_weight).densest(found.half_width)};
}

}  // namespace almanac::predict
