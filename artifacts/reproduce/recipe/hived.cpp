// SPDX-License-Identifier: Apache-2.0

/// \file
/// Binds, preemptions, sequences and random scenarios of HiveD's program, and its guarantee tried
/// out on random requests.
///
/// Source   Zhao et al., OSDI'20 (HiveD), and the program published with it.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formulas/trial.h"
#include "reproduce/hived_layouts.h"
#include "reproduce/hived_sequences.h"
#include "reproduce/recipe.h"
#include "table/lines.h"

namespace almanac::reproduce {

void register_hived(Recipes& registry);

namespace hived_recipe {
namespace {

using namespace hived;
using What = cells::Decision::What;

constexpr const char* kInputs = "data/hived/*.csv";
constexpr const char* kSequences = "golden/hived/*_sequences.csv";
constexpr const char* kBinds = "golden/hived/*_binds.csv";
constexpr const char* kPreempts = "golden/hived/*_preempts.csv";
constexpr const char* kScenarios = "golden/hived/*_scenarios.csv";

constexpr std::int64_t kTried = 100'000;  // random requests; the paper proves it for all
constexpr std::uint64_t kSeed = 2020;

/// What the sequences of a layout came to: by pod, each time that a step asserts it.
struct Played {
  std::set<std::string> asked{};  ///< Pods that a step expects to preempt.
  std::map<std::string, std::vector<std::string>> places{};
  std::map<std::string, std::vector<std::vector<std::string>>> victims{};
};

/// Counts what is to be equal, and remembers the first that is not.
struct Tally {
  std::int64_t all = 0;
  std::int64_t equal = 0;
  std::string first{};

  void add(bool so, const std::string& where) {
    ++all;
    equal += so ? 1 : 0;
    if (!so && first.empty()) first = where;
  }
  void report(Bench& bench, const std::string& what, const std::string& unit) const {
    bench.add(what, static_cast<double>(all), static_cast<double>(equal), unit);
    if (!first.empty()) bench.note(fmt::format("{}: the first that differs is {}.", what, first));
  }
};

/// The layout that a file is about: what comes before the last part of its name.
std::string layout_of(const File& file) { return file.stem.substr(0, file.stem.rfind('_')); }

std::string spell(const cells::Pod& pod) {
  return fmt::format("{}:{}", pod.node, fmt::join(pod.leaves, "-"));
}

Play::Sequences read_sequences(const File& file) {
  Play::Sequences sequences;
  Rows rows(file.path, {"sequence", "step", "action", "subject", "suggested_nodes", "expected"});
  each_row(rows, [&] {
    sequences[std::string(rows.text("sequence"))].push_back(
        {.action = std::string(rows.text("action")),
         .subject = std::string(rows.text("subject")),
         .suggested = std::string(rows.text("suggested_nodes")),
         .expected = std::string(rows.text("expected"))});
  });
  return sequences;
}

void play_sequences(Bench& bench, const Inputs& inputs, const File& file,
                    std::map<std::string, Played>& played) {
  const std::string name = layout_of(file);
  const auto pods = inputs.pods.find(name);
  require(pods != inputs.pods.end(), fmt::format("needs data/hived/{}_requests.csv", name));
  const Play::Sequences sequences = read_sequences(file);
  Played all = played[name];
  Tally tally;
  for (const auto& [sequence, steps] : sequences) {
    Play play(inputs.layout(name), pods->second, sequences);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string where = fmt::format("step {} of {}", i, sequence);
      try {
        if (const auto so = play.step(steps[i])) tally.add(*so, where);
      } catch (const Malformed& malformed) {
        require(false, fmt::format("{}: {}", where, malformed.error.message));
      }
      // Other clauses ("no bind", "bind node not fixed") leave open what becomes of the pod.
      const std::string& pod = steps[i].subject;
      const std::vector<std::string> clauses = parts(steps[i].expected, ";");
      const auto expects = [&](const char* clause) {
        return std::find(clauses.begin(), clauses.end(), clause) != clauses.end();
      };
      if ((expects("bind") || expects("bind (not committed)")) && play.place() != nullptr) {
        all.places[pod].push_back(spell(*play.place()));
      }
      if (!expects("preempt")) continue;
      all.asked.insert(pod);
      all.victims[pod].push_back(play.victims());
    }
  }
  played[name] = std::move(all);
  tally.report(bench, file.name + ": expectations met", "steps");
}

void compare_binds(Bench& bench, const File& file, const Played& played) {
  Rows rows(file.path, {"pod", "node", "leaf_indices"});
  Tally tally;
  each_row(rows, [&] {
    const std::string pod(rows.text("pod"));
    const std::string published =
        fmt::format("{}:{}", rows.text("node"), rows.text("leaf_indices"));
    const auto ours = played.places.find(pod);
    tally.add(ours != played.places.end() &&
                  std::all_of(ours->second.begin(), ours->second.end(),
                              [&](const std::string& place) { return place == published; }),
              pod);
  });
  tally.report(bench, file.name + ": pods bound to the published leaves", "pods");
}

void compare_preempts(Bench& bench, const File& file, const Played& played) {
  Rows rows(file.path, {"pod", "victims_allowed"});
  Tally tally;
  each_row(rows, [&] {
    const std::string pod(rows.text("pod"));
    if (!played.asked.contains(pod)) {
      bench.note(
          fmt::format("{}: no sequence expects {} to preempt, so it is left out.", file.name, pod));
      return;
    }
    const std::vector<std::string> allowed = parts(rows.text("victims_allowed"), ";");
    const auto is_allowed = [&](const std::string& victim) {
      return std::find(allowed.begin(), allowed.end(), victim) != allowed.end();
    };
    const auto ours = played.victims.find(pod);
    tally.add(ours != played.victims.end() &&
                  std::all_of(ours->second.begin(), ours->second.end(),
                              [&](const std::vector<std::string>& victims) {
                                return !victims.empty() &&
                                       std::all_of(victims.begin(), victims.end(), is_allowed);
                              }),
              pod);
  });
  tally.report(bench, file.name + ": pods whose victims are among the published", "pods");
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

/// Rows of scenarios: those that submit nothing may end early, the cells behind are empty.
class ScenarioRows {
 public:
  explicit ScenarioRows(const File& file) : lines_(value_or_throw(table::Lines::open(file.path))) {
    split();
    header_ = cells_;
  }

  bool next() {
    if (!split()) return false;
    require(cells_.size() <= header_.size(), "a row has more cells than the header");
    return true;
  }
  std::string_view text(std::string_view column) const {
    const auto found = std::find(header_.begin(), header_.end(), column);
    require(found != header_.end(), fmt::format("there is no column {}", column));
    const auto at = static_cast<std::size_t>(found - header_.begin());
    return at < cells_.size() ? std::string_view(cells_[at]) : std::string_view();
  }
  void require(bool holds, std::string_view message) const {
    if (holds) return;
    throw Malformed{{.code = Code::invalid,
                     .message = std::string(message),
                     .where = {.file = lines_.path(), .line = lines_.line()}}};
  }

 private:
  bool split() {
    const char* const line = value_or_throw(lines_.next());
    if (line == nullptr) return false;
    cells_.assign(1, "");
    for (const char* at = line; *at != 0; ++at) {
      if (*at == ',') {
        cells_.emplace_back();
      } else {
        cells_.back() += *at;
      }
    }
    return true;
  }

  table::Lines lines_;
  std::vector<std::string> header_;
  std::vector<std::string> cells_;
};

/// One scenario after another, step by step.
class Scenarios {
 public:
  Scenarios(Bench& bench, const Inputs& inputs, const File& file)
      : bench_(bench), inputs_(inputs), file_(file), rows_(file) {}

  void run() {
    while (rows_.next()) {
      try {
        step();
      } catch (const Malformed& malformed) {
        if (malformed.error.where.line > 0) throw;
        rows_.require(false, malformed.error.message);
      }
    }
    if (scheduler_) whole_.add(equal_, scenario_);
    whole_.report(bench_, file_.name + ": scenarios equal in each step", "scenarios");
    outcomes_.report(bench_, file_.name + ": requests bound, waiting or preempting as published",
                     "requests");
    places_.report(bench_, file_.name + ": groups on the published leaves", "groups");
    victims_.report(bench_, file_.name + ": preemptions with the published victims", "groups");
    demoted_.report(bench_, file_.name + ": requests with the published lazy preemptions",
                    "requests");
  }

 private:
  void step() {
    if (!scheduler_ || rows_.text("scenario") != scenario_) {
      if (scheduler_) whole_.add(equal_, scenario_);
      scenario_ = rows_.text("scenario");
      scheduler_.emplace(start(inputs_.layout(std::string(rows_.text("config")))));
      equal_ = true;
    }
    const std::string_view op = rows_.text("op");
    if (op == "submit") {
      submit();
    } else if (op == "delete") {
      scheduler_->release(std::string(rows_.text("group")));
    } else {
      rows_.require(op == "bad" || op == "healthy", "op must be submit, delete, bad or healthy");
      const int node = scheduler_->cluster().find_node(std::string(rows_.text("node")));
      rows_.require(node >= 0, "there is no such node");
      scheduler_->set_healthy(node, op == "healthy");
    }
  }

  void submit() {
    const cells::Request request{
        .group = std::string(rows_.text("group")),
        .vc = std::string(rows_.text("vc")),
        .priority = read_whole(rows_.text("priority"), "priority", -1, cells::kMostGuaranteed),
        .lazy = read_whole(rows_.text("lazy"), "lazy", 0, 1) == 1,
        .pinned = std::string(rows_.text("pinned_cell")),
        .leaf_type = std::string(rows_.text("leaf_type")),
        .members = read_members(rows_.text("members"))};
    const cells::Nodes all = scheduler_->everywhere();
    cells::Decision decision = scheduler_->decide(request, all);
    rows_.require(decision.what != What::refuse, decision.why);
    const char* const ours = decision.what == What::bind   ? "bind"
                             : decision.what == What::wait ? "wait"
                                                           : "preempt";
    count(outcomes_, rows_.text("outcome") == ours);
    if (rows_.text("outcome") == "preempt") {
      count(victims_, sorted(parts(rows_.text("victims"), ";")) == sorted(decision.victims));
    }
    std::vector<std::string> demoted = decision.demoted;
    if (decision.what == What::preempt) {
      for (const std::string& victim : decision.victims) {
        scheduler_->release(victim);
        std::erase(demoted, victim);  // demoted first, and then it had to go
      }
      decision = scheduler_->decide(request, all);
    }
    count(demoted_, sorted(parts(rows_.text("lazy_preempted"), ";")) == sorted(demoted));
    std::vector<std::string> places;
    for (const cells::Pod& pod : decision.pods) places.push_back(spell(pod));
    if (!rows_.text("placements").empty()) {
      count(places_, rows_.text("placements") == fmt::format("{}", fmt::join(places, ";")));
    }
    if (decision.what == What::bind) scheduler_->allocate(request, decision);
  }

  void count(Tally& tally, bool so) {
    tally.add(so, fmt::format("step {} of {}", rows_.text("step"), scenario_));
    equal_ &= so;
  }

  Bench& bench_;
  const Inputs& inputs_;
  const File& file_;
  ScenarioRows rows_;
  std::optional<cells::Scheduler> scheduler_;
  std::string scenario_;
  bool equal_ = true;  // so far, in this scenario
  Tally whole_, outcomes_, places_, victims_, demoted_;
};

void try_guarantee(Bench& bench, const std::string& name, const cells::Layout& layout) {
  const cells::Trial trial = cells::try_out(value_or_throw(cells::build(layout)), kTried, kSeed);
  const auto add = [&](const char* what, std::int64_t promised, std::int64_t ours,
                       const char* unit) {
    bench.add({.what = fmt::format("{}: {}", name, what),
               .published = static_cast<double>(promised),
               .ours = static_cast<double>(ours),
               .unit = unit,
               .kind = Kind::closed_form});
  };
  add("random requests that fit what their virtual cluster owns, served at once", trial.fitting,
      trial.served, "requests");
  add("guaranteed groups that gave way to another virtual cluster", 0, trial.wronged, "groups");
  if (!trial.whole) bench.note(fmt::format("{}: cells stay split when all have gone.", name));
}

void make(Bench& bench) {
  Inputs inputs;
  bench.each(kInputs, [&](const File& file) { read_input(inputs, file); });
  std::map<std::string, Played> played;
  bench.each(kSequences, [&](const File& file) { play_sequences(bench, inputs, file, played); });
  bench.each(kBinds,
             [&](const File& file) { compare_binds(bench, file, played[layout_of(file)]); });
  bench.each(kPreempts,
             [&](const File& file) { compare_preempts(bench, file, played[layout_of(file)]); });
  bench.each(kScenarios, [&](const File& file) { Scenarios(bench, inputs, file).run(); });
  for (const auto& [name, layout] : inputs.layouts) {
    try {
      try_guarantee(bench, name, layout);
    } catch (const Malformed& malformed) {
      bench.note(fmt::format("Layout {} is left out: {}.", name, malformed.error.message));
    }
  }
}

}  // namespace
}  // namespace hived_recipe

void register_hived(Recipes& registry) {
  using namespace hived_recipe;
  const std::string from = "hivedscheduler (Microsoft, MIT): its example cluster and its tests";
  registry.add(
      {.name = "hived",
       .summary = "virtual clusters that own cells: binds, preemptions, scenarios, guarantee",
       .paper = "Zhao et al., OSDI'20",
       .kind = Kind::rerun,
       .needs = {{kInputs, from},
                 {kSequences, from},
                 {kBinds, from},
                 {kPreempts, from},
                 {kScenarios, from}},
       .make = make});
}

}  // namespace almanac::reproduce
