// SPDX-License-Identifier: Apache-2.0
#include "submission/trials/space.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "submission/draft.h"
#include "submission/trials/placeholders.h"
#include "text/nearest.h"
#include "text/toml_reader.h"

namespace almanac::trials {
namespace {

constexpr std::size_t kLongestName = 48;
constexpr std::size_t kMostParameters = 100;
/// Default number of concurrent trials of a search that learns; more would learn less from each
/// other.
constexpr std::int64_t kTrialsAtOnce = 4;

/// Options of a job that the tuning run itself says.
constexpr std::array kOwn = {"name", "group", "steps", "smaller-is-better", "array"};

bool is_variable(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && (is_letter(name.front()) || name.front() == '_') &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

class Reader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  Space read(const toml::table& file) {
    allow(file, {"name", "command", "steps", "better", "search", "seed", "trials", "at_once", "ask",
                 "space"});
    Space made;
    if (const toml::node* const name = file.get("name")) {
      made.name = word(*name, "name");
      if (!is_tuning_name(made.name)) {
        refuse(*name, fmt::format("name must be {}, found \"{}\"", kTuningName, made.name));
      }
    }
    made.steps = whole(needed(file, "steps"), "steps", 1, std::int64_t{1} << 50);
    made.smaller_is_better = one_of(file, "better", {"larger", "smaller"}) == "smaller";
    made.search = read_search(file);
    read_amount(file, made);
    const toml::node& space = needed(file, "space");
    if (!space.is_table() || space.as_table()->empty()) {
      refuse(space, "space must be a table of parameters, written [space]",
             "such as lr = { from = 1e-5, to = 0.1, scale = \"log\" }");
    }
    read_parameters(*space.as_table(), made);
    if (const toml::table* const ask = table(file, "ask")) read_ask(*ask, made);
    read_command(needed(file, "command"), made);
    return made;
  }

 private:
  static constexpr const char* kTuningName =
      "1 to 48 letters, digits, dots, _ or -, not starting with a dot";

  /// What stands there, as users know it.
  static std::string found(const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) return fmt::format("\"{}\"", *text);
    if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
    if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
    if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
    return node.is_array() ? "a list" : node.is_table() ? "a table" : "a date";
  }
  [[noreturn]] void expected(const toml::node& node, std::string_view name,
                             std::string_view what) const {
    refuse(node, fmt::format("{} must be {}, found {}", name, what, found(node)));
  }

  const toml::node& needed(const toml::table& from, const char* key) const {
    const toml::node* const node = from.get(key);
    if (node == nullptr)
      refuse(from, fmt::format("{} is missing", key), "see docs/guide/tuning.md");
    return *node;
  }
  std::string word(const toml::node& node, std::string_view name) const {
    const auto text = node.value_exact<std::string>();
    if (!text || text->empty()) expected(node, name, "a text");
    return *text;
  }
  std::int64_t whole(const toml::node& node, std::string_view name, std::int64_t least,
                     std::int64_t most) const {
    const auto number = node.value_exact<std::int64_t>();
    if (!number || *number < least || *number > most) {
      expected(node, name, fmt::format("a whole number from {} to {}", least, most));
    }
    return *number;
  }
  std::string one_of(const toml::table& from, const char* key,
                     const std::vector<std::string>& words) const {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return words[0];
    const auto text = node->value_exact<std::string>();
    if (!text || std::find(words.begin(), words.end(), *text) == words.end()) {
      expected(*node, key, fmt::format("\"{}\"", fmt::join(words, "\" or \"")));
    }
    return *text;
  }

  Search read_search(const toml::table& file) const {
    const std::string search = one_of(file, "search", {"random", "grid", "tpe"});
    return search == "grid" ? Search::grid : search == "tpe" ? Search::tpe : Search::random;
  }

  void read_amount(const toml::table& file, Space& made) const {
    if (made.search == Search::grid) {
      for (const char* const key : {"trials", "seed"}) {
        if (const toml::node* const node = file.get(key)) {
          refuse(*node, fmt::format("a grid has no {}: it runs all combinations", key),
                 "search = \"random\" samples some");
        }
      }
      return;
    }
    made.trials = whole(needed(file, "trials"), "trials", 1, kMostTrials);
    if (const toml::node* const seed = file.get("seed")) {
      made.seed = static_cast<std::uint64_t>(
          whole(*seed, "seed", 0, std::numeric_limits<std::int64_t>::max()));
    }
    const toml::node* const at_once = file.get("at_once");
    if (made.search != Search::tpe) {
      if (at_once != nullptr) {
        refuse(*at_once, "at_once only applies to a search that learns from earlier trials",
               "search = \"tpe\", or leave it out");
      }
      return;
    }
    made.at_once = at_once == nullptr ? kTrialsAtOnce : whole(*at_once, "at_once", 1, kMostTrials);
  }

  void read_parameters(const toml::table& space, Space& made) const {
    using Entry = std::pair<const toml::key*, const toml::node*>;
    std::vector<Entry> entries;
    for (const auto& [key, node] : space) entries.emplace_back(&key, &node);
    const auto place = [](const Entry& entry) {
      const toml::source_position at = entry.first->source().begin;
      return std::pair(at.line, at.column);
    };
    std::sort(entries.begin(), entries.end(),
              [&](const Entry& a, const Entry& b) { return place(a) < place(b); });
    if (entries.size() > kMostParameters) {
      refuse(space, fmt::format("a space has at most {} parameters, found {}", kMostParameters,
                                entries.size()));
    }
    double combinations = 1;
    for (const auto& [key, node] : entries) {
      const std::string name(key->str());
      if (!is_variable(name) || is_reserved(name)) {
        refuse(key->source(), fmt::format("a parameter name has letters, digits and _, starts with "
                                          "a letter, and is not trial or flags, found \"{}\"",
                                          name));
      }
      made.parameters.push_back({name, values(*node, name, made.search == Search::grid)});
      if (made.search == Search::grid) {
        combinations *= static_cast<double>(points_of(made.parameters.back()));
      }
    }
    if (combinations > static_cast<double>(kMostTrials)) {
      refuse(space,
             fmt::format("a grid has at most {} trials: this one has {:.0f}", kMostTrials,
                         combinations),
             "search = \"random\" samples some");
    }
  }

  static std::int64_t points_of(const Parameter& parameter) {
    if (const auto* const choices = std::get_if<Choices>(&parameter.values)) {
      return std::ssize(choices->values);
    }
    const Range& range = std::get<Range>(parameter.values);
    return range.points > 0 ? range.points : static_cast<std::int64_t>(range.to - range.from) + 1;
  }

  std::variant<Choices, Range> values(const toml::node& node, const std::string& name,
                                      bool is_grid) const {
    if (const toml::table* const range = node.as_table()) return this->range(*range, name, is_grid);
    if (const toml::array* const list = node.as_array()) {
      if (list->empty()) refuse(node, fmt::format("{} has no choices", name));
      Choices made;
      for (const toml::node& each : *list) {
        made.values.push_back(scalar(each, fmt::format("a choice of {}", name)));
        const auto& all = made.values;
        if (std::find(all.begin(), all.end() - 1, all.back()) != all.end() - 1) {
          refuse(each, fmt::format("{} lists {} twice", name, all.back()));
        }
      }
      return made;
    }
    return Choices{{scalar(node, name)}};
  }

  std::string scalar(const toml::node& node, const std::string& name) const {
    if (const auto text = node.value_exact<std::string>()) {
      const bool is_plain =
          std::none_of(text->begin(), text->end(), [](char c) { return c >= 0 && c < ' '; });
      if (!is_plain) refuse(node, fmt::format("{} has a line break or a control character", name));
      return *text;
    }
    const auto number = node.value_exact<double>();
    const bool is_value =
        node.is_integer() || node.is_boolean() || (number && std::isfinite(*number));
    if (!is_value) expected(node, name, "a number, a text, true or false");
    return found(node);
  }

  Range range(const toml::table& from, const std::string& name, bool is_grid) const {
    allow(from, {"from", "to", "scale", "points"});
    const auto end = [&](const char* key) {
      const toml::node* const node = from.get(key);
      if (node == nullptr) {
        refuse(from, fmt::format("{} has no {}", name, key), "a range is { from = 1, to = 8 }");
      }
      const auto number = node->value<double>();
      constexpr double kMost = 1e15;  // below it a double holds each whole number
      if (!number || !(std::abs(*number) <= kMost)) {
        expected(*node, fmt::format("{} of {}", key, name), "a number");
      }
      return *number;
    };
    Range made{.from = end("from"),
               .to = end("to"),
               .is_whole = from.get("from")->is_integer() && from.get("to")->is_integer(),
               .is_log = one_of(from, "scale", {"linear", "log"}) == "log"};
    if (made.from >= made.to) {
      refuse(from,
             fmt::format("{} must have from below to, found {} to {}", name, made.from, made.to));
    }
    if (made.is_log && made.from <= 0) {
      refuse(*from.get("from"),
             fmt::format("a logarithmic range must start above 0, found {}", made.from));
    }
    const toml::node* const points = from.get("points");
    if (points != nullptr && !is_grid) {
      refuse(*points, "points only apply to a grid", "search = \"grid\", or leave them out");
    }
    if (points != nullptr) made.points = whole(*points, "points", 2, kMostTrials);
    if (points == nullptr && is_grid && !made.is_whole) {
      refuse(from, fmt::format("a grid needs the number of points of {}", name),
             "such as { from = 0.1, to = 0.9, points = 5 }");
    }
    if (is_grid && made.is_whole &&
        made.points > static_cast<std::int64_t>(made.to - made.from) + 1) {
      refuse(*points, fmt::format("{} has fewer whole numbers than {} points", name, made.points));
    }
    return made;
  }

  void read_ask(const toml::table& ask, Space& made) const {
    std::vector<std::string> known;
    for (const submission::Option& each : submission::own_options()) {
      if (std::find(kOwn.begin(), kOwn.end(), each.name) == kOwn.end()) {
        known.emplace_back(each.name);
      }
    }
    allow(ask, known);
    for (const auto& [key, node] : ask) {
      const std::string name(key.str());
      const auto option =
          std::find_if(submission::own_options().begin(), submission::own_options().end(),
                       [&](const auto& each) { return each.name == name; });
      std::string said = "--" + name;
      if (option->argument == submission::Argument::none) {
        const auto flag = node.value_exact<bool>();
        if (!flag) expected(node, name, "true or false");
        if (!*flag) continue;
      } else {
        if (!node.is_string() && !node.is_number()) {
          expected(node, name, "a number or a text in quotes");
        }
        said += "=" + node.value_exact<std::string>().value_or(found(node));
      }
      submission::Draft draft;
      if (auto done = submission::apply_words({said}, submission::own_options(),
                                              text::toml_place(path(), node.source()), draft);
          !done) {
        throw text::TomlRefused{std::move(done.error())};
      }
      made.asked.push_back(std::move(said));
    }
  }

  void read_command(const toml::node& node, Space& made) const {
    const toml::array* const list = node.as_array();
    if (list == nullptr || list->empty()) {
      expected(node, "command",
               "a list of words, such as [\"python\", \"train.py\", \"--lr={lr}\"]");
    }
    std::vector<std::string> known = {"trial", "flags"};
    for (const Parameter& each : made.parameters) known.push_back(each.name);
    for (const toml::node& each : *list) {
      made.command.push_back(word(each, "a word of the command"));
      for (const std::string& name : placeholders(made.command.back())) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        std::string hint = text::did_you_mean(name, known);
        if (hint.empty()) hint = fmt::format("write {{{{{}}}}} to keep the braces", name);
        refuse(each, fmt::format("{{{}}} is not a parameter of [space]", name), std::move(hint));
      }
    }
  }
};

}  // namespace

bool is_tuning_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

Result<Space> parse_space(std::string_view text, const std::string& path) {
  return text::read_toml_text(text, path,
                              [&](const toml::table& all) { return Reader(path).read(all); });
}

Result<Space> read_space(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(Code::not_found, fmt::format("cannot open the file: {}", std::strerror(errno)),
                {.file = path});
  }
  if (std::filesystem::is_directory(path)) {
    return fail(Code::not_found, "must be a file, found a folder", {.file = path});
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_space(text, path);
}

}  // namespace almanac::trials
