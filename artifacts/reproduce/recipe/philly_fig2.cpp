// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long jobs of each size run in Philly.
///
/// Source   Jeon et al., ATC'19, Figure 2.
#include <algorithm>

#include <fmt/format.h>

#include "reproduce/recipe.h"
#include "reproduce/study_logs.h"
#include "study/size_bucket.h"
#include "text/datetime.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_philly_fig2(Recipes& registry);

namespace philly_fig2_recipe {
namespace {

void compare(Bench& bench, const StudiedLog& log, const Json& published) {
  for (std::size_t size = 0; size < study::kSizes.size(); ++size) {
    std::vector<double> minutes;
    for (const std::uint32_t at : log.study.gpu_jobs()) {
      const trace::Job& job = log.study.job(at);
      if (study::size_of(job.request.gpus) != size) continue;
      minutes.push_back(seconds(study::duration_of(job)) / 60);
    }
    const std::string_view words = study::kSizes[size];
    const std::string name(words.substr(0, words.find(' ')));
    for (const auto& [limit, percent] : member(published, "fig2_" + name).items()) {
      const auto at_most = text::parse_decimal(limit);
      require(at_most.has_value(), fmt::format("expected minutes, found {}", limit));
      const auto within = std::count_if(minutes.begin(), minutes.end(),
                                        [&](double each) { return each <= *at_most; });
      bench.add(fmt::format("Figure 2 ({}), {}: jobs that run {} min or less", log.file.name, words,
                            limit),
                percent, 100 * static_cast<double>(within) / static_cast<double>(minutes.size()),
                "%");
    }
  }
}

}  // namespace
}  // namespace philly_fig2_recipe

void register_philly_fig2(Recipes& registry) {
  using namespace philly_fig2_recipe;
  registry.add({.name = "philly-fig2",
                .summary = "How long Philly's jobs of each size run",
                .paper = "Jeon et al., ATC'19, Figure 2",
                .kind = Kind::figure,
                .needs = {published_figures(), philly_logs()},
                .make = [](Bench& bench) {
                  const Json published = read_published_figures(bench);
                  if (published.empty()) return;
                  each_log(bench, philly_logs(), {.from = *text::parse_datetime("2017-10-01")},
                           "the paper's 96,260 jobs of October to December 2017 are another set of "
                           "jobs than the public one",
                           [&](const StudiedLog& log) { compare(bench, log, published); });
                }});
}

}  // namespace almanac::reproduce
