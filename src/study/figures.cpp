// SPDX-License-Identifier: Apache-2.0
#include "study/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
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
    {"waiting", "Waits", "How long jobs wait, and for what."},
    {"cluster", "Load over time", "GPUs in use and submissions."},
    {"vcs", "Virtual clusters", "Use and waits of the parts of the cluster."},
    {"locality", "Locality and utilization", "Where jobs run, and how busy their GPUs are."},
    {"failures", "Failures", "Unsuccessful jobs and their cost."},
    {"users", "Users", "Who uses the cluster, and who waits."},
    {"jobs", "Jobs", "Durations, sizes and final states."},
    {"literature", "Comparison with the literature",
     "This log next to the clusters of two published studies: Helios (Hu et al., SC'21) and Philly "
     "(Jeon et al., ATC'19). Philly's numbers cover 75 days and differ from its public trace."},
}};

std::string missing_of(const Recipe& recipe, const Study& study) {
  std::string missing;
  for (const Need need : recipe.needs) {
    if (study.has(need)) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : "; ", to_string(need));
  }
  return missing;
}

/// Each finding next to what published studies found; no rows if none has a counterpart.
figure::Figure published_of(const std::vector<figure::Finding>& findings) {
  figure::Figure figure{.id = "study_published", .title = "Findings and published numbers"};
  figure.caption = "Findings of this log for which the papers give a number of their own.";
  auto& here = figure.text("this_log", "This log");
  auto& there = figure.text("published", "Published");
  for (const figure::Finding& finding : findings) {
    if (finding.published.empty()) continue;
    here.add(finding.headline);
    there.add(finding.published);
  }
  return figure;
}

/// Takes published columns and curves out of `figure`. Returns the figure with them, or nothing if
/// it has none.
std::optional<figure::Figure> take_published(figure::Figure& figure,
                                             const std::vector<std::string>& columns) {
  const auto is_published = [&](const std::string& name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  const bool has_curves =
      std::any_of(figure.charts.begin(), figure.charts.end(),
                  [](const figure::Chart& chart) { return !chart.references.empty(); });
  if (columns.empty() && !has_curves) return {};
  figure::Figure whole = figure;
  whole.id += "_published";
  whole.title += ", next to published numbers";
  std::erase_if(figure.columns,
                [&](const figure::Column& each) { return is_published(each.name); });
  for (figure::Chart& chart : figure.charts) {
    chart.references.clear();
    std::erase_if(chart.y, is_published);
  }
  return whole;
}

/// Leaves out a chart whose bars would all be missing or of no height. The table stays.
void drop_blank_charts(figure::Figure& figure) {
  std::erase_if(figure.charts, [&](const figure::Chart& chart) {
    if (chart.kind != "bar") return false;
    return std::none_of(
        figure.columns.begin(), figure.columns.end(), [&](const figure::Column& column) {
          const bool is_drawn =
              std::find(chart.y.begin(), chart.y.end(), column.name) != chart.y.end();
          return is_drawn && std::any_of(column.numbers.begin(), column.numbers.end(),
                                         [](double each) { return std::abs(each) > 0; });
        });
  });
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
  std::vector<figure::Figure> published;
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
      if (recipe.part != Part::literature) {
        if (auto whole = take_published(drawing.figure, drawing.published)) {
          published.push_back(*std::move(whole));
        }
      }
      drop_blank_charts(drawing.figure);
      section.figures.push_back(std::move(drawing.figure));
    }
    if (static_cast<Part>(part) == Part::literature) {
      std::move(published.begin(), published.end(), std::back_inserter(section.figures));
      figure::Figure found = published_of(document.findings);
      if (found.rows() > 0) section.figures.insert(section.figures.begin(), std::move(found));
    }
    if (!section.figures.empty()) document.sections.push_back(std::move(section));
  }
  std::stable_partition(document.findings.begin(), document.findings.end(),
                        [](const figure::Finding& finding) { return !finding.advice.empty(); });
  return document;
}

}  // namespace almanac::study
