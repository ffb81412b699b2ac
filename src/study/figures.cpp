// SPDX-License-Identifier: Apache-2.0
#include "study/figures.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace almanac::study {

void register_figure(Figures& registry);

namespace {

struct PartText {
  std::string_view id;
  std::string_view title;
  std::string_view text;
};

constexpr std::array<PartText, kNumParts> kParts{{
    {"trace", "The trace", "What was logged, beside the clusters of the two published studies."},
    {"cluster", "The cluster over time", "How much of it works, and when work is submitted."},
    {"vcs", "Virtual clusters", "How unlike the parts of the cluster are."},
    {"jobs", "Jobs", "How long they run, how large they are, and how they end."},
    {"users", "Users", "Who uses the cluster, and who waits."},
    {"waiting", "Waiting", "How long jobs wait, and what for."},
    {"locality", "Locality and utilisation", "Where jobs run, and how busy their GPUs are."},
    {"failures", "Failures", "What does not succeed, and what that costs."},
}};

std::string missing_of(const Recipe& recipe, const Study& study) {
  std::string missing;
  for (const Need need : recipe.needs) {
    if (study.has(need)) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : "; ", to_string(need));
  }
  return missing;
}

}  // namespace

const Figures& figures() {
  static const Figures all = [] {
    Figures made;
    register_figure(made);
    return made;
  }();
  return all;
}

figure::Document draw_all(const Study& study, const std::function<void(double)>& progress) {
  figure::Document document;
  double tried = 0;
  document.kind = "study";
  for (std::size_t part = 0; part < kNumParts; ++part) {
    figure::Section section{.id = std::string(kParts[part].id),
                            .title = std::string(kParts[part].title),
                            .text = std::string(kParts[part].text),
                            .figures = {}};
    for (const Recipe& recipe : figures().all()) {
      if (static_cast<std::size_t>(recipe.part) != part) continue;
      if (progress) progress(tried++ / static_cast<double>(figures().all().size()));
      if (std::string missing = missing_of(recipe, study); !missing.empty()) {
        document.absent.push_back({recipe.id, recipe.title, std::move(missing)});
        continue;
      }
      Drawing drawing = recipe.draw(study);
      drawing.figure.id = recipe.id;
      drawing.figure.title = recipe.title;
      drawing.figure.source = recipe.source;
      for (figure::Finding& finding : drawing.findings) {
        finding.figure = recipe.id;
        document.findings.push_back(std::move(finding));
      }
      section.figures.push_back(std::move(drawing.figure));
    }
    if (!section.figures.empty()) document.sections.push_back(std::move(section));
  }
  return document;
}

}  // namespace almanac::study
