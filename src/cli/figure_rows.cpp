// SPDX-License-Identifier: Apache-2.0
#include "cli/figure_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "figure/rows_json.h"

namespace almanac::cli {
namespace {

constexpr int kDigits = 9;

}  // namespace

double cost_figure(double cost) {
  return cost > 0 ? cost : std::numeric_limits<double>::quiet_NaN();
}

std::string figure_text(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.6g}", value);
}

figure::Listing figure_rows(const std::string& what, const std::vector<NamedFigures>& all) {
  figure::Rows rows(all);
  rows.add(what, &NamedFigures::name);
  if (all.empty()) return rows;
  for (const auto& [name, first] : all.front().figures) {
    rows.add(name,
             [&](const NamedFigures& each) {
               const auto found =
                   std::find_if(each.figures.begin(), each.figures.end(),
                                [&](const auto& figure) { return figure.first == name; });
               return found == each.figures.end() ? figure::Cell() : figure::Cell(found->second);
             })
        .significant(kDigits);
  }
  return rows;
}

figure::Listing answer_rows(const Answer& answer) {
  figure::Rows rows(answer);
  rows.add("figure", &Answer::value_type::first);
  rows.add("value", &Answer::value_type::second).significant(kDigits);
  return rows;
}

Result<int> show_answer(const ListOptions& list, const Answer& answer) {
  if (list.wants_document()) {
    nlohmann::ordered_json made;
    for (const auto& [name, value] : answer) made[name] = figure::to_value(value);
    fmt::print("{}\n", made.dump(2));
    return kDone;
  }
  if (!list.explains()) return list.print(answer_rows(answer));
  for (const auto& [name, value] : answer) fmt::print("{:20} {}\n", name, value.text());
  return kDone;
}

Result<int> show_sections(const ListOptions& list, nlohmann::ordered_json document,
                          const std::vector<Section>& sections, std::string_view introduction,
                          std::string_view explanation) {
  if (list.wants_document()) {
    for (const Section& each : sections) {
      if (each.rows.size() > 0) document[each.name] = figure::to_array(each.rows);
    }
    fmt::print("{}\n", document.dump(2));
    return kDone;
  }
  if (list.explains()) fmt::print("{}", introduction);
  std::string others;
  figure::TableForm form = table_form();
  form.wide = list.output == "wide";
  for (std::size_t at = 1; at < sections.size(); ++at) {
    if (sections[at].rows.size() > 0) others += "\n" + sections[at].rows.table(form);
  }
  return list.print(sections.front().rows, others + std::string(explanation));
}

}  // namespace almanac::cli
