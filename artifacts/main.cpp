// SPDX-License-Identifier: Apache-2.0

/// \file
/// The program `almanac-reproduce`: published tables and figures made again, next to ours.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/run_main.h"
#include "reproduce/recipe.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ReproduceOptions {
  std::vector<std::string> names;
  std::string data;
  ListOptions list;
};

std::string significant(double value) { return fmt::format("{:.7g}", value); }

std::string join_needs(const reproduce::Recipe& recipe) {
  std::vector<std::string> files;
  for (const reproduce::Need& need : recipe.needs) files.push_back(need.files);
  return fmt::format("{}", fmt::join(files, " "));
}

Result<int> list_recipes(const ListOptions& options) {
  const std::vector<reproduce::Recipe>& all = reproduce::recipes().all();
  if (options.wants_document()) {
    Json document = Json::array();
    for (const reproduce::Recipe& recipe : all) {
      Json needs = Json::array();
      for (const reproduce::Need& need : recipe.needs) {
        needs.push_back({{"files", need.files}, {"from", need.from}});
      }
      document.push_back({{"name", recipe.name},
                          {"summary", recipe.summary},
                          {"paper", recipe.paper},
                          {"kind", reproduce::name_of(recipe.kind)},
                          {"takes_minutes", recipe.takes_minutes},
                          {"needs", std::move(needs)}});
    }
    fmt::print("{}\n", document.dump(2));
    return kDone;
  }
  using reproduce::Recipe;
  figure::Rows rows(all);
  rows.add("name", "RECIPE", &Recipe::name);
  rows.add(figure::Tier::key, "summary", "SUMMARY", &Recipe::summary);
  rows.add(figure::Tier::detail, "paper", "PAPER", &Recipe::paper);
  rows.add(figure::Tier::wide, "kind", "PUBLISHED IS",
           [](const Recipe& each) { return reproduce::name_of(each.kind); });
  rows.add(figure::Tier::wide, "takes_minutes", "MINUTES", &Recipe::takes_minutes);
  rows.add(figure::Tier::data, "needs", "NEEDS", join_needs);
  return options.print(std::move(rows));
}

figure::Rows<reproduce::Row> compared(const std::vector<reproduce::Row>& rows) {
  using reproduce::Row;
  const auto number = [](double value) {
    return std::isfinite(value) ? figure::Cell(value, significant(value)) : figure::Cell();
  };
  figure::Rows<Row> listing(rows);
  listing.add("what", &Row::what);
  listing.add(figure::Tier::key, "published",
              [number](const Row& row) { return number(row.published); });
  listing.add(figure::Tier::key, "ours", [number](const Row& row) { return number(row.ours); });
  listing.add("difference", [number](const Row& row) { return number(row.difference()); });
  listing.add("unit", &Row::unit);
  listing.add(figure::Tier::data, "kind",
              [](const Row& row) { return reproduce::name_of(row.kind.value()); });
  listing.add("remark", [](const Row& row) {
    return row.remark.empty() ? figure::Cell::nothing("") : figure::Cell(row.remark);
  });
  return listing;
}

/// The rows for which nothing is published, as a table.
std::string table_of_findings(const std::vector<reproduce::Row>& findings) {
  using reproduce::Row;
  figure::Rows<Row> listing(findings);
  listing.add("what", "nothing is published for", &Row::what);
  listing.add("ours", [](const Row& row) { return figure::Cell(row.ours, significant(row.ours)); });
  listing.add("unit", &Row::unit);
  return listing.table(table_form());
}

/// What the published column holds: "muri: published: the authors' program, run again".
std::string kinds_of(const reproduce::Recipe& recipe, const std::vector<reproduce::Row>& rows) {
  std::vector<std::string> kinds;
  for (const reproduce::Row& row : rows) {
    const std::string words(reproduce::describe(row.kind.value()));
    if (std::find(kinds.begin(), kinds.end(), words) == kinds.end()) kinds.push_back(words);
  }
  if (kinds.empty()) kinds.emplace_back(reproduce::describe(recipe.kind));
  return fmt::format("{}: published: {}\n", recipe.name, fmt::join(kinds, "; "));
}

Result<std::vector<const reproduce::Recipe*>> chosen(const std::vector<std::string>& names) {
  const auto& all = reproduce::recipes().all();
  std::vector<const reproduce::Recipe*> found;
  if (names == std::vector<std::string>{"all"}) {
    for (const reproduce::Recipe& recipe : all) {
      if (recipe.takes_minutes) {
        note(fmt::format("{} takes minutes: name it to have it", recipe.name));
      } else {
        found.push_back(&recipe);
      }
    }
    return found;
  }
  for (const std::string& name : names) {
    found.push_back(reproduce::recipes().find(name));
    if (found.back() != nullptr) continue;
    std::vector<std::string> known{"list", "all"};
    for (const reproduce::Recipe& recipe : all) known.push_back(recipe.name);
    return fail(Code::usage, fmt::format("no recipe is called '{}'", name), {},
                text::meant_or_known(name, known));
  }
  return found;
}

using Played = std::vector<std::pair<const reproduce::Recipe*, reproduce::Outcome>>;

/// What each makes of the public data; nothing of those that need data where there are none.
Played played(const std::vector<const reproduce::Recipe*>& recipes, const std::string& data) {
  Played made;
  std::atomic<std::size_t> whole = 0;
  std::atomic<double> part = 0;
  const ProgressBar bar(
      recipes.size() == 1 ? "reproducing " + recipes.front()->name : "reproducing",
      [&] { return (static_cast<double>(whole) + part) / static_cast<double>(recipes.size()); });
  for (const reproduce::Recipe* const recipe : recipes) {
    const bool lacks_data = data.empty() && !recipe->needs.empty();
    made.emplace_back(
        recipe, lacks_data ? reproduce::Outcome{} : reproduce::reproduce(*recipe, data, &part));
    part = 0;
    ++whole;
  }
  return made;
}

Result<int> reproduce_named(const ReproduceOptions& options) {
  if (options.names == std::vector<std::string>{"list"}) {
    return list_recipes(options.list);
  }
  const auto recipes = chosen(options.names);
  if (!recipes) return tl::unexpected(recipes.error());
  std::vector<reproduce::Row> rows;
  std::vector<reproduce::Row> findings;
  Exit status = kDone;
  bool lacks_data = false;
  for (auto& [recipe, made] : played(*recipes, options.data)) {
    if (options.data.empty() && !recipe->needs.empty()) {
      for (const reproduce::Need& need : recipe->needs) {
        note(fmt::format("{} needs {}: {}", recipe->name, need.files, need.from));
      }
      lacks_data = true;
      continue;
    }
    for (const std::string& sentence : made.notes) {
      note(fmt::format("{}: {}", recipe->name, sentence));
    }
    for (const reproduce::Need& need : made.absent) {
      note(fmt::format("{}: {} has no {} ({})", recipe->name, options.data, need.files, need.from));
    }
    for (const Error& error : made.malformed) {
      note(fmt::format("{}: left out {}", recipe->name, to_string(error)));
      status = kBadData;
    }
    if (made.rows.empty() && made.findings.empty() && status == kDone) status = kNoInput;
    if (options.list.explains()) fmt::print("{}", kinds_of(*recipe, made.rows));
    const auto take = [&](std::vector<reproduce::Row>& from, std::vector<reproduce::Row>& into) {
      for (reproduce::Row& row : from) {
        if (recipes->size() > 1) row.what = fmt::format("{}: {}", recipe->name, row.what);
        into.push_back(std::move(row));
      }
    };
    take(made.rows, rows);
    take(made.findings, findings);
  }
  const auto no_data = [] {
    return fail(Code::not_found, "the public data are not at hand", {},
                "name their folder, with data/ and golden/ in it, by --data or ALMANAC_SHARED");
  };
  if (lacks_data && rows.empty() && findings.empty()) return no_data();
  if (!rows.empty() || findings.empty() || !options.list.explains()) {
    const auto printed = options.list.print(compared(rows));
    if (!printed) return printed;
  }
  if (!findings.empty() && options.list.explains()) fmt::print("{}", table_of_findings(findings));
  if (lacks_data) return no_data();
  return status;
}

void describe(Program& program) {
  CLI::App& command = program.app;
  const auto options = std::make_shared<ReproduceOptions>();
  command
      .add_option("NAME", options->names,
                  "Recipes; list shows them, all makes those that take no minutes")
      ->required();
  command
      .add_option("--data", options->data,
                  "Folder of the public data, with data/ and golden/ in it")
      ->envname("ALMANAC_SHARED")
      ->type_name("DIR");
  options->list.add_to(command);
  add_example(command, "almanac-reproduce list");
  add_example(command, "almanac-reproduce afs --data ~/public -o json");
  program.action = [options] { return reproduce_named(*options); };
}

}  // namespace
}  // namespace almanac::cli

int main(int argc, char** argv) {
  using namespace almanac;
  CLI::App app{"Make published tables and figures again, and print them next to Almanac's",
               "almanac-reproduce"};
  app.set_version_flag("--version", "almanac-reproduce " ALMANAC_VERSION);
  cli::Program program{.app = app, .command_line = {argv, argv + argc}};
  cli::describe(program);
  return cli::run_main(argc, argv, program);
}
