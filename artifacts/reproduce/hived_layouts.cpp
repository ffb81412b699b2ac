// SPDX-License-Identifier: Apache-2.0
#include "reproduce/hived_layouts.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <utility>

#include <fmt/format.h>

namespace almanac::reproduce::hived {
namespace {

constexpr int kMost = 1'000'000;

/// The rows of the physical cells come depth first, and say how deep they are.
void read_places(Inputs& inputs, const File& file) {
  Rows rows(file.path, {"config", "depth", "cell_type", "node", "leaf_index", "pinned_cell"});
  std::string config;
  std::vector<cells::Place*> above;  // the last cell at each depth
  each_row(rows, [&] {
    if (rows.text("config") != config) above.clear();
    config = rows.text("config");
    const auto depth = static_cast<std::size_t>(read_whole(rows.text("depth"), "depth", 0, 64));
    rows.require(depth <= above.size(), "depth must be that of the cell before, one more, or less");
    above.resize(depth);
    std::vector<cells::Place>& siblings =
        depth == 0 ? inputs.layouts[config].places : above.back()->within;
    cells::Place& place = siblings.emplace_back();
    place.type = rows.text("cell_type");
    place.pinned = rows.text("pinned_cell");
    if (!rows.text("leaf_index").empty()) {
      place.node = rows.text("node");
      place.leaf = read_whole(rows.text("leaf_index"), "leaf_index", 0, kMost);
    }
    above.push_back(&place);
  });
}

void read_types(Inputs& inputs, const File& file) {
  Rows rows(file.path, {"config", "cell_type", "child_type", "child_number", "is_node"});
  each_row(rows, [&] {
    inputs.layouts[std::string(rows.text("config"))].types.push_back(
        {.name = std::string(rows.text("cell_type")),
         .child = std::string(rows.text("child_type")),
         .children = read_whole(rows.text("child_number"), "child_number", 1, kMost),
         .node = read_whole(rows.text("is_node"), "is_node", 0, 1) == 1});
  });
}

void read_shares(Inputs& inputs, const File& file) {
  Rows rows(file.path, {"config", "vc", "kind", "chain", "cell_type", "number"});
  each_row(rows, [&] {
    cells::Share share{.vc = std::string(rows.text("vc"))};
    if (rows.text("kind") == "pinned") {
      share.pinned = rows.text("cell_type");
      rows.require(!share.pinned.empty(), "a pinned cell must have a name");
    } else {
      rows.require(rows.text("kind") == "cells", "kind must be cells or pinned");
      share.chain = rows.text("chain");
      share.type = rows.text("cell_type");
      share.cells = read_whole(rows.text("number"), "number", 0, kMost);
    }
    inputs.layouts[std::string(rows.text("config"))].shares.push_back(std::move(share));
  });
}

void read_requests(Inputs& inputs, const File& file) {
  Rows rows(file.path, {"pod", "vc", "priority", "lazy", "pinned_cell", "leaf_type", "leaf_cells",
                        "group", "members"});
  auto& pods = inputs.pods[file.stem.substr(0, file.stem.rfind('_'))];
  each_row(rows, [&] {
    cells::Request gang{.group = std::string(rows.text("group")),
                        .vc = std::string(rows.text("vc")),
                        .priority = read_whole(rows.text("priority"), "priority", -kMost, kMost),
                        .lazy = read_whole(rows.text("lazy"), "lazy", 0, 1) == 1,
                        .pinned = std::string(rows.text("pinned_cell")),
                        .leaf_type = std::string(rows.text("leaf_type")),
                        .members = read_members(rows.text("members"))};
    pods[std::string(rows.text("pod"))] = {
        std::move(gang), read_whole(rows.text("leaf_cells"), "leaf_cells", 1, kMost)};
  });
}

void each_place(std::vector<cells::Place>& places, const std::function<void(cells::Place&)>& work) {
  for (cells::Place& place : places) {
    work(place);
    each_place(place.within, work);
  }
}

std::vector<cells::Place> leaves_of(cells::Place& place) {
  std::vector<cells::Place> leaves;
  each_place(place.within, [&](cells::Place& within) {
    if (within.within.empty()) leaves.push_back(within);
  });
  return leaves;
}

std::vector<cells::Place> nodes_of(const cells::Layout& layout, cells::Place& top) {
  std::vector<cells::Place> nodes;
  each_place(top.within, [&](cells::Place& within) {
    const auto type = std::find_if(layout.types.begin(), layout.types.end(),
                                   [&](const cells::Type& one) { return one.name == within.type; });
    if (type != layout.types.end() && type->node) nodes.push_back(within);
  });
  return nodes;
}

/// "number 3", "chain C cell T number 1", "CT1-NODE.CT1 number 2", "CT1-NODE"
void edit_share(cells::Share& share, const std::string& text) {
  static const std::regex form(R"((?:chain (\S+) cell (\S+)|(\S+))?(?: ?\bnumber (\d+))?)");
  std::smatch match;
  if (std::smatch number; std::regex_match(text, number, std::regex(R"(number (\d+))"))) {
    share.cells = read_whole(number[1].str(), "number", 0, kMost);
    return;
  }
  require(std::regex_match(text, match, form) && match.length() > 0,
          fmt::format("expected an edit of cells, found: {}", text));
  share.pinned.clear();
  if (match[1].matched) {
    share.chain = match[1];
    share.type = match[2];
  } else {
    const std::vector<std::string> path = parts(match[3].str(), ".");
    share.chain = path.front();
    share.type = path.back();
  }
  if (match[4].matched) share.cells = read_whole(match[4].str(), "number", 0, kMost);
}

/// False if the text is about something else.
bool edit_shares(cells::Layout& layout, const std::string& text, std::string& vc) {
  static const std::regex form(R"((?:(\S+) cells )?rows? (\d+)(?: and (\d+))? -> (.+))");
  std::smatch match;
  if (!std::regex_match(text, match, form)) return false;
  if (match[1].matched) vc = match[1];
  std::vector<cells::Share*> rows;
  for (cells::Share& share : layout.shares) {
    if (share.vc == vc) rows.push_back(&share);
  }
  for (const std::size_t at : {2, 3}) {
    if (!match[at].matched) continue;
    const int row = read_whole(match[at].str(), "row", 0, kMost);
    require(row < static_cast<int>(rows.size()),
            fmt::format("{} has no row {}", vc, match[at].str()));
    edit_share(*rows[static_cast<std::size_t>(row)], match[4]);
  }
  return true;
}

/// A type of cells with others within becomes one of leaves.
void flatten(cells::Layout& layout, const std::string& type, int children,
             const std::string& child) {
  bool known = false;
  for (cells::Type& each : layout.types) {
    if (each.name != type) continue;
    each.child = child;
    each.children = children;
    known = true;
  }
  require(known, fmt::format("there is no type {}", type));
  each_place(layout.places, [&](cells::Place& place) {
    if (place.type == type) place.within = leaves_of(place);
  });
}

}  // namespace

const cells::Layout& Inputs::layout(const std::string& name) const {
  const auto found = layouts.find(name);
  require(found != layouts.end(), fmt::format("needs layout {} in data/hived", name));
  return found->second;
}

void read_input(Inputs& inputs, const File& file) {
  Inputs read = inputs;  // a file is taken in whole or not at all
  const Rows rows(file.path, {});
  if (rows.has("leaf_index")) {
    read_places(read, file);
  } else if (rows.has("child_type")) {
    read_types(read, file);
  } else if (rows.has("kind")) {
    read_shares(read, file);
  } else {
    read_requests(read, file);
  }
  inputs = std::move(read);
}

void edit(cells::Layout& layout, const std::string& text) {
  static const std::regex becomes(R"(cell type (\S+) becomes (\d+) x (\S+))");
  static const std::regex renamed(R"(node (\S+)(?: \([^)]*\))? renamed (\S+))");
  static const std::regex replaced(R"(top cell number (\d+) replaced by its .*nodes.*)");
  std::string vc;
  for (const std::string& clause : parts(text, ";")) {
    std::smatch match;
    if (edit_shares(layout, clause, vc)) continue;
    if (std::regex_match(clause, match, becomes)) {
      flatten(layout, match[1], read_whole(match[2].str(), "cells", 1, kMost), match[3]);
    } else if (std::regex_match(clause, match, renamed)) {
      each_place(layout.places, [&](cells::Place& place) {
        if (place.node == match[1]) place.node = match[2];
      });
    } else if (std::regex_match(clause, match, replaced)) {
      const auto at = static_cast<std::size_t>(read_whole(match[1].str(), "top cell", 0, kMost));
      require(at < layout.places.size(), fmt::format("there is no top cell {}", at));
      const std::vector<cells::Place> nodes = nodes_of(layout, layout.places[at]);
      const auto hole =
          layout.places.erase(layout.places.begin() + static_cast<std::ptrdiff_t>(at));
      layout.places.insert(hole, nodes.begin(), nodes.end());
    } else {
      require(false, fmt::format("expected an edit of the layout, found: {}", clause));
    }
  }
}

cells::Scheduler start(const cells::Layout& layout) {
  return cells::Scheduler(value_or_throw(cells::build(layout)));
}

void each_row(Rows& rows, const std::function<void()>& work) {
  while (rows.next()) {
    try {
      work();
    } catch (const Malformed& malformed) {
      if (malformed.error.where.line > 0) throw;
      rows.wrong(malformed.error.message);
    }
  }
}

std::vector<cells::Member> read_members(std::string_view text) {
  std::vector<cells::Member> members;
  int pods = 0;
  for (const std::string& member : parts(text, ";")) {
    const std::size_t by = member.find('x');
    require(by != std::string::npos,
            fmt::format("expected pods x leafs, as in 2x16, found {}", member));
    members.push_back({read_whole(member.substr(0, by), "pods", 1, kMost),
                       read_whole(member.substr(by + 1), "leafs", 1, kMost)});
    pods += members.back().pods;
    require(pods <= kMost, "a group must have at most 1,000,000 pods");
  }
  return members;
}

std::vector<std::string> parts(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + separator.size(), text.size()));
    const std::size_t first = part.find_first_not_of(' ');
    if (first == std::string_view::npos) continue;
    part = part.substr(first, part.find_last_not_of(' ') - first + 1);
    parts.emplace_back(part);
  }
  return parts;
}

int read_whole(std::string_view text, std::string_view what, int least, int most) {
  int value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(
      wrong == std::errc() && end == text.data() + text.size() && value >= least && value <= most,
      fmt::format("{}: expected a whole number from {} to {}, found '{}'", what, least, most,
                  text));
  return value;
}

}  // namespace almanac::reproduce::hived
