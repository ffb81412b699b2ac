// SPDX-License-Identifier: Apache-2.0
#include "cli/print_paired.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/columns.h"
#include "cli/program.h"
#include "text/human.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

using report::Paired;

std::string changed(double change_s) {
  return (change_s < 0 ? "-" : "+") + text::human_time(std::abs(change_s));
}

std::string chance(const std::optional<report::Sure>& sure) {
  if (!sure) return "-";
  return sure->p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", sure->p);
}

std::string between(const std::optional<report::Sure>& sure) {
  return sure ? fmt::format("{} to {}", changed(sure->from_s), changed(sure->to_s)) : "-";
}

nlohmann::json json_of(const Paired& each, const std::string& baseline) {
  const auto known = [&](double report::Sure::*field) {
    return each.sure ? nlohmann::json(*each.sure.*field) : nlohmann::json();
  };
  return {{"policy", each.policy},
          {"against", baseline},
          {"jobs", each.jobs},
          {"unpaired_jobs", each.unpaired},
          {"avg_wait_s", each.avg_wait_s},
          {"change_s", each.change_s},
          {"change_from_s", known(&report::Sure::from_s)},
          {"change_to_s", known(&report::Sure::to_s)},
          {"jobs_shorter", each.shorter},
          {"jobs_longer", each.longer},
          {"blocks", each.blocks},
          {"days_a_block", each.days_a_block},
          {"p", known(&report::Sure::p)}};
}

void print_as_csv(const std::vector<Paired>& all, const std::string& baseline) {
  const std::vector<std::string> header = {"policy",
                                           "against",
                                           "jobs",
                                           "unpaired_jobs",
                                           "avg_wait_s",
                                           "change_s",
                                           "change_from_s",
                                           "change_to_s",
                                           "jobs_shorter",
                                           "jobs_longer",
                                           "blocks",
                                           "days_a_block",
                                           "p"};
  std::vector<std::vector<std::string>> rows;
  for (const Paired& each : all) {
    const nlohmann::json object = json_of(each, baseline);
    std::vector<std::string> row;
    for (const std::string& name : header) {
      const nlohmann::json& value = object.at(name);
      row.push_back(value.is_null()     ? ""
                    : value.is_string() ? value.get<std::string>()
                                        : value.dump());
    }
    rows.push_back(std::move(row));
  }
  print_csv(header, rows);
}

void print_as_table(const std::vector<Paired>& all, const std::string& baseline) {
  std::vector<std::vector<std::string>> rows;
  for (const Paired& each : all) {
    rows.push_back({each.policy, text::grouped(static_cast<std::int64_t>(each.jobs)),
                    text::human_time(each.avg_wait_s), changed(each.change_s), between(each.sure),
                    text::human_share(each.shorter), text::human_share(each.longer),
                    chance(each.sure)});
  }
  print_columns({{"policy"},
                 {"jobs", true},
                 {"avg wait", true},
                 {"against " + baseline, true},
                 {"95 % of it", true},
                 {"wait less", true},
                 {"wait longer", true},
                 {"p", true}},
                rows);
  const auto withheld =
      std::any_of(all.begin(), all.end(), [](const Paired& each) { return !each.sure; });
  const auto longest = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
                         return a.days_a_block < b.days_a_block;
                       })->days_a_block;
  fmt::print(
      "Each job is held against itself under {}. Days of submission{} are drawn (95 %) and change "
      "sign (p, raised for {}), since the jobs of a day wait together. Below 0.05 a difference is "
      "hardly chance; it is one of this log, this cluster and these simulations.\n",
      baseline, longest > 1 ? fmt::format(", up to {} in a row,", longest) : "",
      text::counted(all.size(), "comparison"));
  if (withheld) {
    fmt::print(
        "-: not to be told, for there are fewer than 6 days, or each hangs together with the next "
        "however many are joined: one queue that lasts is one observation. Simulate a longer "
        "log.\n");
  }
}

}  // namespace

Result<int> print_paired(const std::string& baseline,
                         const std::vector<report::PairedPolicy>& policies,
                         const std::string& format) {
  std::vector<report::PairedPolicy> others;
  std::vector<std::string> names;
  const report::PairedPolicy* base = nullptr;
  for (const report::PairedPolicy& each : policies) {
    names.push_back(each.name);
    if (each.name == baseline) {
      base = &each;
    } else {
      others.push_back(each);
    }
  }
  if (base == nullptr) {
    return fail(Code::usage, fmt::format("--against: no complete policy is called {}", baseline),
                {}, text::meant_or_known(baseline, names));
  }
  if (others.empty()) {
    return fail(Code::usage, fmt::format("there is no other policy than {}", baseline), {},
                "simulate several, or name a second run");
  }
  const auto all = report::paired(*base, others);
  if (!all) return tl::unexpected(all.error());
  if (format == "csv") {
    print_as_csv(*all, baseline);
  } else if (format == "json") {
    nlohmann::json list = nlohmann::json::array();
    for (const Paired& each : *all) list.push_back(json_of(each, baseline));
    fmt::print("{}\n", list.dump(2));
  } else {
    print_as_table(*all, baseline);
  }
  return kDone;
}

}  // namespace almanac::cli
