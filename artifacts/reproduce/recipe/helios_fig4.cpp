// SPDX-License-Identifier: Apache-2.0

/// \file
/// How busy virtual clusters are, minute by minute.
///
/// Source   Hu et al., SC'21, Figure 4: Earth in May 2020; the artifact's notebook leaves out the
///          10th.
#include <algorithm>

#include <fmt/format.h>

#include "reproduce/recipe.h"
#include "reproduce/study_logs.h"
#include "study/vc_series.h"
#include "text/datetime.h"

namespace almanac::reproduce {

void register_helios_fig4(Recipes& registry);

namespace helios_fig4_recipe {
namespace {

constexpr const char* kSeries = "data/series/earth_vcs/*.csv";

void compare(Bench& bench, const File& file, const Json& published) {
  const auto series =
      value_or_throw(study::read_vc_file(file.path, {*text::parse_datetime("2020-05-10")}));
  const Json& fig4 = member(published, "fig4");
  const Json& names = fig4.at("vc");
  const auto at =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), series.name) - names.begin());
  if (at == names.size()) {
    bench.note(fmt::format("{} is none of the virtual clusters that are drawn", file.name));
    return;
  }
  const auto add = [&](const char* key, const char* what, double share) {
    bench.add(fmt::format("Figure 4, {} ({}): {}", series.name, file.name, what),
              fig4.at(key).at(at), 100 * share, "%");
  };
  add("q1", "lower quartile of GPUs in use", series.use.q1);
  add("median", "median of GPUs in use", series.use.median);
  add("q3", "upper quartile of GPUs in use", series.use.q3);
  add("whislo", "lower whisker of GPUs in use", series.use.low);
  add("whishi", "upper whisker of GPUs in use", series.use.high);
  add("mean", "mean of GPUs in use", series.use.mean);
}

}  // namespace
}  // namespace helios_fig4_recipe

void register_helios_fig4(Recipes& registry) {
  using namespace helios_fig4_recipe;
  registry.add(
      {.name = "helios-fig4",
       .summary = "How busy Earth's virtual clusters are",
       .paper = "Hu et al., SC'21, Figure 4",
       .kind = Kind::figure,
       .needs = {published_figures(),
                 {kSeries,
                  "the virtual clusters' series of github.com/S-Lab-System-Group/HeliosArtifact"}},
       .make = [](Bench& bench) {
         const Json published = read_published_figures(bench);
         if (published.empty()) return;
         bench.each(kSeries, [&](const File& file) { compare(bench, file, published); });
       }});
}

}  // namespace almanac::reproduce
