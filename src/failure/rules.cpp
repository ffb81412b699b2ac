// SPDX-License-Identifier: Apache-2.0
#include "failure/rules.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "base/check.h"
#include "table/stream.h"
#include "text/nearest.h"
#include "text/toml_reader.h"

namespace almanac::failure {

/// presets/failures.toml; generated.
std::string_view builtin_text();

namespace {

class Reader final : text::TomlReader {
 public:
  Reader(Rules& rules, const std::string& name) : TomlReader(name), rules_(rules) {}

  void read(const toml::table& file) {
    allow(file, {"ignore", "label", "category"});
    for (std::string& pattern : texts(file, "ignore")) rules_.ignore.push_back(std::move(pattern));
    for (std::string& pattern : texts(file, "label")) rules_.label.push_back(std::move(pattern));
    for (const toml::table* const category : tables(file, "category")) read_category(*category);
  }

 private:
  /// Sets `value` if the key is there.
  template <typename T>
  void take(const toml::table& from, const char* key, T& value, const char* expected) {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<T>();
    if (!found) refuse(node->source(), fmt::format("{} must be {}", key, expected));
    value = *found;
  }
  void take(const toml::table& from, const char* key, std::string& value) {
    take(from, key, value, "a text");
  }
  std::vector<std::string> texts(const toml::table& from, const char* key) {
    std::vector<std::string> found;
    const toml::node* const node = from.get(key);
    if (node == nullptr) return found;
    if (!node->is_array()) refuse(node->source(), fmt::format("{} must be a list of texts", key));
    for (const toml::node& element : *node->as_array()) {
      if (!element.is_string()) {
        refuse(element.source(), fmt::format("{} must be a list of texts", key));
      }
      found.push_back(element.as_string()->get());
      if (found.back().empty()) refuse(element.source(), fmt::format("{} has an empty text", key));
    }
    return found;
  }
  void take_precedence(const toml::table& from, Kind& kind, int& rank) {
    std::string word(to_string(kind));
    take(from, "kind", word);
    if (word != "root" && word != "implicit") {
      refuse(from.get("kind")->source(),
             fmt::format("kind must be root or implicit, found \"{}\"", word));
    }
    kind = word == "root" ? Kind::root : Kind::implicit;
    std::int64_t number = rank;
    take(from, "rank", number, "a whole number");
    if (number < 0 || number > 100) {
      refuse(from.get("rank")->source(), fmt::format("rank must be 0 to 100, found {}", number));
    }
    rank = static_cast<int>(number);
  }

  void read_category(const toml::table& from) {
    allow(from, {"name", "class", "kind", "rank", "suggestion", "of", "rule"});
    Category read;
    take(from, "name", read.name);
    if (read.name.empty()) refuse(from.source(), "a category needs a name");
    auto& all = rules_.categories;
    const auto known = std::find_if(all.begin(), all.end(), [&](const Category& candidate) {
      return candidate.name == read.name;
    });
    const auto position = static_cast<std::size_t>(known - all.begin());
    if (known != all.end()) read = *known;
    take_precedence(from, read.kind, read.rank);
    take(from, "suggestion", read.suggestion);
    take(from, "of", read.of);
    if (read.of != "" && read.of != "node" && read.of != "gpu" && read.of != "link" &&
        read.of != "software") {
      refuse(from.get("of")->source(),
             fmt::format("of must be node, gpu, link or software, found \"{}\"", read.of));
    }
    if (from.contains("class")) read.classes = texts(from, "class");
    for (const std::string& word : read.classes) {
      if (word != "IF" && word != "AE" && word != "U") {
        refuse(from.get("class")->source(),
               fmt::format("class must be of IF, AE, U, found \"{}\"", word),
               "infrastructure, engine, user");
      }
    }
    if (read.classes.empty() || read.suggestion.empty()) {
      std::vector<std::string> names;
      for (const Category& category : all) names.push_back(category.name);
      refuse(from.source(),
             fmt::format("the new category \"{}\" needs class and suggestion", read.name),
             text::did_you_mean(read.name, names));
    }
    known == all.end() ? all.push_back(std::move(read)) : void(*known = std::move(read));
    for (const toml::table* const rule : tables(from, "rule")) read_rule(*rule, position);
  }

  void read_rule(const toml::table& from, std::size_t category) {
    allow(from, {"id", "kind", "rank", "start", "pattern", "example", "suggestion"});
    const Category& home = rules_.categories[category];
    Rule read{.category = category, .kind = home.kind, .rank = home.rank};
    take(from, "id", read.id);
    if (read.id.empty()) refuse(from.source(), "a rule needs an id");
    auto& all = rules_.rules;
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const Rule& candidate) { return candidate.id == read.id; });
    if (known != all.end()) {
      if (known->where.file == path()) {
        refuse(from.source(),
               fmt::format("rule {} is already defined in line {}", read.id, known->where.line));
      }
      read = *known;
      read.category = category;
    }
    take_precedence(from, read.kind, read.rank);
    take(from, "start", read.start, "true or false");
    take(from, "pattern", read.pattern);
    take(from, "suggestion", read.suggestion);
    if (from.contains("example")) read.examples = texts(from, "example");
    if (read.pattern.empty())
      refuse(from.source(), fmt::format("rule {} needs a pattern", read.id));
    if (read.examples.empty()) {
      refuse(from.source(), fmt::format("rule {} needs an example", read.id),
             "a line of a log that the rule matches");
    }
    read.where = text::toml_place(path(), from.source());
    known == all.end() ? all.push_back(std::move(read)) : void(*known = std::move(read));
  }

  Rules& rules_;
};

}  // namespace

std::string_view to_string(Kind kind) { return kind == Kind::root ? "root" : "implicit"; }

const std::string& suggestion_of(const Rules& rules, const Rule& rule) {
  return rule.suggestion.empty() ? rules.categories[rule.category].suggestion : rule.suggestion;
}

std::string join_classes(const Category& category) {
  return fmt::format("{}", fmt::join(category.classes, " "));
}

Result<void> extend(Rules& rules, std::string_view text, const std::string& name) {
  const auto read = text::read_toml_text(text, name, [&](const toml::table& file) {
    Reader(rules, name).read(file);
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

Rules builtin_rules() {
  Rules rules;
  const Result<void> read = extend(rules, builtin_text(), "presets/failures.toml");
  ALMANAC_CHECK(read.has_value(), "{}", to_string(read.error()));
  return rules;
}

Result<Rules> load_rules(const std::string& path) {
  const Result<std::string> text = table::read_text_file(path);
  if (!text) return tl::unexpected(text.error());
  Rules rules = builtin_rules();
  if (Result<void> read = extend(rules, *text, path); !read) return tl::unexpected(read.error());
  return rules;
}

}  // namespace almanac::failure
