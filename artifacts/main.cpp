// SPDX-License-Identifier: Apache-2.0

/// \file
/// The program `almanac-reproduce`: published tables and figures made again, next to ours.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/progress.h"
#include "cli/run_main.h"
#include "reproduce/recipe.h"
#include "table/csv_writer.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ReproduceOptions {
  std::vector<std::string> names;
  std::string data;
  std::string output = "table";
};

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string shown(double value) {
  return std::isfinite(value) ? fmt::format("{:.7g}", value) : "-";
}

void print_list(const std::string& output) {
  Json all = Json::array();
  for (const reproduce::Recipe& recipe : reproduce::recipes().all()) {
    Json needs = Json::array();
    for (const reproduce::Need& need : recipe.needs) {
      needs.push_back({{"files", need.files}, {"from", need.from}});
    }
    all.push_back({{"name", recipe.name},
                   {"summary", recipe.summary},
                   {"paper", recipe.paper},
                   {"kind", reproduce::name_of(recipe.kind)},
                   {"takes_minutes", recipe.takes_minutes},
                   {"needs", std::move(needs)}});
    if (output == "table") {
      fmt::print("{:18} {}  [{}; {}]\n", recipe.name, recipe.summary, recipe.paper,
                 reproduce::describe(recipe.kind));
    }
  }
  if (output == "json") fmt::print("{}\n", all.dump(2));
}

void print_json(const std::vector<reproduce::Row>& rows) {
  Json all = Json::array();
  for (const reproduce::Row& row : rows) {
    Json made{{"what", row.what},         {"published", number(row.published)},
              {"ours", number(row.ours)}, {"difference", number(row.difference())},
              {"unit", row.unit},         {"kind", reproduce::name_of(row.kind.value())}};
    if (!row.remark.empty()) made["remark"] = row.remark;
    all.push_back(std::move(made));
  }
  fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
}

/// Its columns have no room for what a row has to remark.
std::string with_remark(const reproduce::Row& row) {
  return row.remark.empty() ? row.what : fmt::format("{} ({})", row.what, row.remark);
}

Result<void> print_rows_csv(const std::vector<reproduce::Row>& rows) {
  table::OutputFile file = table::OutputFile::standard_output();
  table::CsvWriter csv(file);
  csv.header({"what", "published", "ours", "difference", "unit"});
  for (const reproduce::Row& row : rows) {
    csv.text(with_remark(row)).decimal(row.published).decimal(row.ours).decimal(row.difference());
    csv.text(row.unit).end_row();
  }
  csv.flush();
  return file.commit();
}

void print_table(const std::vector<reproduce::Row>& rows) {
  std::size_t width = 4;
  for (const reproduce::Row& row : rows) width = std::max(width, row.what.size());
  fmt::print("{:{}}  {:>12}  {:>12}  {:>12}  unit\n", "what", width, "published", "ours",
             "difference");
  for (const reproduce::Row& row : rows) {
    fmt::print("{:{}}  {:>12}  {:>12}  {:>12}  {}{}{}\n", row.what, width, shown(row.published),
               shown(row.ours), shown(row.difference()), row.unit,
               row.unit.empty() || row.remark.empty() ? "" : "  ", row.remark);
  }
}

void print_findings(const std::vector<reproduce::Row>& findings) {
  std::size_t width = 4;
  for (const reproduce::Row& row : findings) width = std::max(width, row.what.size());
  fmt::print("{:{}}  {:>12}  unit\n", "nothing is published for", width, "ours");
  for (const reproduce::Row& row : findings) {
    fmt::print("{:{}}  {:>12}  {}\n", row.what, width, shown(row.ours), row.unit);
  }
}

/// What the published column holds: "muri: published: the authors' program, run again".
void print_kinds(const reproduce::Recipe& recipe, const std::vector<reproduce::Row>& rows) {
  std::vector<reproduce::Kind> kinds;
  for (const reproduce::Row& row : rows) {
    if (std::find(kinds.begin(), kinds.end(), *row.kind) == kinds.end()) {
      kinds.push_back(*row.kind);
    }
  }
  if (kinds.empty()) kinds.push_back(recipe.kind);
  std::string words;
  for (const reproduce::Kind kind : kinds) {
    words += fmt::format("{}{}", words.empty() ? "" : "; ", reproduce::describe(kind));
  }
  fmt::print("{}: published: {}\n", recipe.name, words);
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
    if (options.output == "csv") return fail(Code::usage, "the list is a table or json");
    print_list(options.output);
    return kDone;
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
    if (options.output == "table") print_kinds(*recipe, made.rows);
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
  if (options.output == "json") {
    print_json(rows);
  } else if (options.output == "csv") {
    if (const auto printed = print_rows_csv(rows); !printed) return tl::unexpected(printed.error());
  } else {
    if (!rows.empty()) print_table(rows);
    if (!findings.empty()) print_findings(findings);
  }
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
  command.add_option("-o,--output", options->output, "How to print: table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
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
