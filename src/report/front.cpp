// SPDX-License-Identifier: Apache-2.0
#include "report/front.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "report/comparison.h"
#include "report/shown_command.h"
#include "text/human.h"

namespace almanac::report {
namespace {

using experiment::Front;
using experiment::Objective;
using experiment::Tried;

std::string shown(const Objective& objective, double value) {
  if (objective.is_time) return text::human_time(value);
  return value < 1000 ? fmt::format("{:.3g}", value) : text::grouped(std::llround(value));
}

double least_of(const Front& front, std::size_t objective) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t at : front.members) {
    least = std::min(least, front.tried[at].values[objective]);
  }
  return least;
}

std::string upper(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return made;
}

std::string capital(std::string_view text) {
  return upper(text.substr(0, 1)) + std::string(text.substr(1));
}

}  // namespace

figure::Listing front_rows(const Front& front, const Objectives& objectives) {
  const std::string knee = front.knee ? front.tried[*front.knee].policy : "";
  std::vector<Tried> members;
  for (const std::size_t at : representatives(front)) members.push_back(front.tried[at]);
  figure::Rows rows(members);
  rows.add(figure::Tier::key, "policy", "POLICY", [&](const Tried& each) {
    return figure::Cell(each.policy).strong(each.policy == knee);
  });
  for (std::size_t at = 0; at < objectives.size(); ++at) {
    const Objective& objective = objectives[at];
    rows.add(figure::Tier::key, std::string(objective.name), upper(objective.title),
             [&objective, at](const Tried& each) {
               return figure::Cell(each.values[at], shown(objective, each.values[at]));
             })
        .right();
  }
  return rows;
}

std::string knee_in_words(const Front& front, const Objectives& objectives) {
  if (!front.knee) {
    std::string made;
    for (std::size_t at = 0; at < objectives.size(); ++at) {
      const auto least =
          std::find_if(front.members.begin(), front.members.end(), [&](std::size_t member) {
            return front.tried[member].values[at] == least_of(front, at);
          });
      made += fmt::format("{}{} has the least {}", at == 0 ? "" : ", ", front.tried[*least].policy,
                          objectives[at].title);
    }
    return made + ". None lies between.";
  }
  const Tried& knee = front.tried[*front.knee];
  std::string made;
  for (std::size_t at = 0; at < objectives.size(); ++at) {
    const double least = least_of(front, at);
    const double value = knee.values[at];
    made += fmt::format("{}{} {}", at == 0 ? "" : ", ", objectives[at].title,
                        shown(objectives[at], value));
    if (value == least) {
      made += " (the least)";
    } else if (least > 0) {
      made += fmt::format(" ({:.0f} % above the least)", 100 * (value / least - 1));
    } else {
      made += fmt::format(" (the least is {})", shown(objectives[at], least));
    }
  }
  return fmt::format("{} gives up least of all objectives: {}.", knee.policy, made);
}

figure::Document front_document(const std::string& trace, const Front& front,
                                const Objectives& objectives,
                                const std::vector<std::string>& command) {
  figure::Document document;
  document.kind = "sweep";
  document.title = std::filesystem::path(trace).filename().string();
  document.subtitle = fmt::format("{} tried, {} on the front",
                                  text::counted(front.tried.size(), "policy", "policies"),
                                  text::grouped(std::ssize(front.members)));
  figure::Figure figure{.id = "front", .title = "Policies between objectives"};
  auto& policy = figure.text("policy", "Policy");
  auto& role = figure.text("role", "Role");
  auto& label = figure.text("label", "Label");
  auto& beaten = figure.text("beaten", "Beaten");
  std::vector<figure::Column*> columns;
  for (const Objective& objective : objectives) {
    columns.push_back(
        &figure.number(std::string(objective.name), capital(objective.title),
                       objective.is_time ? figure::Unit::seconds : figure::Unit::none));
  }
  // The knee last, so that its mark is on top.
  std::vector<std::size_t> order;
  for (std::size_t at = 0; at < front.tried.size(); ++at) order.push_back(at);
  const auto rank = [&](std::size_t at) {
    return front.knee == at ? 2 : front.tried[at].is_on_front ? 1 : 0;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  constexpr std::array kRoles{"Beaten by another", "On the front", "Gives up least"};
  for (const std::size_t at : order) {
    const Tried& each = front.tried[at];
    policy.add(each.policy);
    label.add(rank(at) == 0 ? "" : each.policy);
    role.add(kRoles[static_cast<std::size_t>(rank(at))]);
    beaten.add(rank(at) == 0 ? "beaten" : "");
    for (std::size_t objective = 0; objective < columns.size(); ++objective) {
      columns[objective]->add(each.values[objective]);
    }
  }
  figure.n = std::ssize(front.tried);
  figure.caption =
      "Each mark is a policy; bottom left is best. For a hollow one there is another policy that "
      "is "
      "at least as good in everything.";
  for (std::size_t at = 1; at < objectives.size(); ++at) {
    figure.charts.push_back(
        {.kind = "points",
         .title = fmt::format("{} and {}", capital(objectives[0].title), objectives[at].title),
         .x = std::string(objectives[0].name),
         .y = {std::string(objectives[at].name)},
         .by = "role",
         .x_scale = scale_of(columns[0]->numbers),
         .y_scale = scale_of(columns[at]->numbers),
         .labels = "label",
         .hollow = "beaten"});
  }
  document.findings.push_back({.headline = knee_in_words(front, objectives), .figure = "front"});
  document.sections.push_back(
      {.id = "front_section", .title = "The front", .figures = {std::move(figure)}});
  document.provenance = {
      .trace = trace, .version = ALMANAC_VERSION, .command = shown_command(command)};
  return document;
}

}  // namespace almanac::report
