// SPDX-License-Identifier: Apache-2.0

/// \file
/// Turns what a user writes - a name, a name with slots replaced, a TOML file - into a composition.
#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "policy/registry.h"
#include "text/nearest.h"

namespace almanac::policy {
namespace {

/// Names are written with '_' here and often with '-' by people.
std::string spelled(std::string_view text) {
  std::string name(text);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string hint_for(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = text::did_you_mean(word, known);
  return fmt::format("{}{}known: {}", meant, meant.empty() ? "" : "; ", fmt::join(known, ", "));
}

/// "easy:4" is "easy", told "4".
struct Written {
  std::string_view name;
  std::string_view told;

  explicit Written(std::string_view text)
      : name(text.substr(0, text.find(':'))),
        told(name.size() < text.size() ? text.substr(name.size() + 1) : std::string_view()) {}
};

/// What `text` says is wrong, said of `of`.
Error said_of(const std::string& of, Error error) {
  error.message = fmt::format("{}: {}", of, error.message);
  return error;
}

Result<Choice> read_choice(const Entry& entry, std::string_view told) {
  auto values = read_values(entry.parameters, told);
  if (!values) return tl::unexpected(said_of(entry.name, values.error()));
  return Choice{entry.name, std::move(*values)};
}

Error at(const toml::node& node, const std::string& file, std::string message,
         std::string hint = "") {
  return {Code::usage,
          std::move(message),
          {.file = file,
           .line = static_cast<std::int64_t>(node.source().begin.line),
           .column = static_cast<std::int64_t>(node.source().begin.column)},
          std::move(hint)};
}

Result<Values> read_toml_values(const Parameter& parameter, const toml::node& node,
                                const std::string& file) {
  const Error wrong =
      at(node, file, fmt::format("{} must be {}", parameter.name, parameter.expected()));
  Values values;
  const auto take = [&](const toml::node& each) {
    if (const auto word = each.value<std::string>(); word && !parameter.words.empty()) {
      const auto found = std::find(parameter.words.begin(), parameter.words.end(), *word);
      if (found == parameter.words.end()) return false;
      values.push_back(static_cast<double>(found - parameter.words.begin()));
      return true;
    }
    const auto number = each.value<double>();
    if (!number || !parameter.words.empty()) return false;
    values.push_back(*number);
    return true;
  };
  bool fine = true;
  if (const toml::array* const list = node.as_array()) {
    for (const toml::node& each : *list) fine = fine && take(each);
  } else {
    fine = take(node);
  }
  if (!fine || !check_values(parameter, values)) return tl::unexpected(wrong);
  return values;
}

/// `order = "las:3250:7200"` or `order = {name = "las", queues_gpu_s = [3250, 7200]}`.
Result<Choice> read_toml_choice(const Choices& choices, const toml::node& node,
                                const std::string& file) {
  const toml::table* const table = node.as_table();
  const toml::node* const name = table == nullptr ? &node : table->get("name");
  const auto text = name == nullptr ? std::nullopt : name->value<std::string>();
  if (!text) {
    return tl::unexpected(
        at(node, file,
           fmt::format("{} must be the name of a choice, or a table with a name", choices.slot())));
  }
  const std::string as_spelled = spelled(*text);
  const Written written(as_spelled);
  const Entry* const entry = choices.find(written.name);
  if (entry == nullptr) {
    return tl::unexpected(at(node, file,
                             fmt::format("{} has no choice named {}", choices.slot(), *text),
                             "see almanac policy list"));
  }
  auto made = read_choice(*entry, written.told);
  if (!made) return tl::unexpected(at(node, file, made.error().message, made.error().hint));
  if (table == nullptr) return made;
  for (const auto& [key, value] : *table) {
    if (key == "name") continue;
    const Parameter* const parameter = find_parameter(entry->parameters, key.str());
    if (parameter == nullptr) {
      std::vector<std::string> known;
      for (const Parameter& each : entry->parameters) known.push_back(each.name);
      return tl::unexpected(at(value, file,
                               fmt::format("{} has no parameter {}", entry->name, key.str()),
                               known.empty() ? "it has none" : hint_for(key.str(), known)));
    }
    auto values = read_toml_values(*parameter, value, file);
    if (!values) return tl::unexpected(values.error());
    made->told[parameter->name] = std::move(*values);
  }
  return made;
}

/// What `one` bars and `other` does.
std::optional<Trait> barred_by(const Entry& one, const Entry& other) {
  std::optional<Trait> barred;
  one.traits.bars.each([&](Trait each) {
    if (!barred && other.traits.has.has(each)) barred = each;
  });
  return barred;
}

/// "pass easy".
std::string called(const Choices& choices, const Choice& choice) {
  return choices.slot() + " " + choice.name;
}

}  // namespace

/// A whole scheduler is not made of slots: what is said of those that it does not ask would be
/// lost.
Result<Composition> Registry::checked_whole(Composition composition) const {
  const Composition untold;
  for (const Slot& slot : slots()) {
    if (slot.choices == &estimates || slot.choices == &placements) continue;
    const Choice& choice = composition.*slot.choice;
    if (slot.choices == &divisions) {
      const Entry& division = divisions.at(choice);
      if (auto barred = barred_by(division, wholes.at(composition.whole))) {
        return fail(
            Code::usage,
            fmt::format(
                "policy {}: division {} cannot be combined with a choice that {}, as {} does",
                composition.name, division.name, clause(*barred), composition.whole.name),
            {}, "leave it out");
      }
      continue;
    }
    if (choice == untold.*slot.choice) continue;
    return fail(
        Code::usage,
        fmt::format("policy {}: {} makes all decisions itself and ignores the slot {}",
                    composition.name, composition.whole.name, called(*slot.choices, choice)),
        {},
        "leave it out; only the estimate, the placement and the division of this policy can be "
        "replaced");
  }
  return composition;
}

Result<Composition> Registry::checked(Composition composition) const {
  if (!composition.whole.name.empty()) return checked_whole(std::move(composition));
  const auto all = slots();
  const auto entry = [&](const Slot& slot) -> const Entry& {
    return slot.choices->at(composition.*slot.choice);
  };
  std::optional<Error> wrong;
  for (const Slot& one : all) {
    const Traits& traits = entry(one).traits;
    const std::string name = called(*one.choices, composition.*one.choice);
    for (const Slot& other : all) {
      const auto barred = &other == &one ? std::nullopt : barred_by(entry(one), entry(other));
      if (wrong || !barred) continue;
      wrong =
          Error{Code::usage,
                fmt::format("policy {}: {} cannot be combined with a choice that {}, as {} does",
                            composition.name, name, clause(*barred),
                            called(*other.choices, composition.*other.choice)),
                {},
                "replace one of the two; almanac policy list shows all choices"};
    }
    traits.needs.each([&](Trait needed) {
      const bool has = std::any_of(all.begin(), all.end(), [&](const Slot& other) {
        return entry(other).traits.has.has(needed);
      });
      if (wrong || has) return;
      std::vector<std::string> would_do;
      for (const Slot& other : all) {
        for (const Entry& each : other.choices->entries()) {
          if (each.traits.has.has(needed)) would_do.push_back("+" + each.name);
        }
      }
      wrong = Error{Code::usage,
                    fmt::format("policy {}: {} requires a choice that {}", composition.name, name,
                                clause(needed)),
                    {},
                    fmt::format("add {}", fmt::join(would_do, " or "))};
    });
  }
  if (wrong) return tl::unexpected(std::move(*wrong));
  return composition;
}

Result<void> Registry::replace_slot(Composition& composition, const std::string& text) const {
  const Written written(text);
  // What is told is a value of a choice that is there already, if one has such a parameter.
  if (!written.told.empty()) {
    for (const Slot& slot : slots()) {
      Choice& choice = composition.*slot.choice;
      const Entry& entry = slot.choices->at(choice);
      const Parameter* const parameter = find_parameter(entry.parameters, written.name);
      if (parameter == nullptr || choice.name == written.name) continue;
      auto values = read_values({*parameter}, written.told);
      if (!values) return tl::unexpected(said_of(entry.name, values.error()));
      choice.told[parameter->name] = std::move(values->at(parameter->name));
      return {};
    }
  }
  for (const Slot& slot : slots()) {
    const Entry* const entry = slot.choices->find(written.name);
    if (entry == nullptr) continue;
    auto made = read_choice(*entry, written.told);
    if (!made) return tl::unexpected(made.error());
    composition.*slot.choice = std::move(*made);
    return {};
  }
  std::vector<std::string> known;
  for (const Slot& slot : slots()) {
    for (const Entry& entry : slot.choices->entries()) known.push_back(entry.name);
  }
  return fail(Code::usage, fmt::format("no slot has a choice named {}", written.name), {},
              hint_for(written.name, known));
}

Result<Composition> Registry::load(const std::string& path) const {
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    const auto line = static_cast<std::int64_t>(error.source().begin.line);
    return fail(line > 0 ? Code::usage : Code::not_found, std::string(error.description()),
                {.file = path, .line = line});
  }
  Composition made;
  if (const toml::node* base = table.get("base")) {
    const auto text = base->value<std::string>();
    if (!text) return tl::unexpected(at(*base, path, "base must be the name of a policy"));
    Result<Composition> found = compose(*text);
    if (!found) return found;
    made = *found;
  }
  made.name = table["name"].value_or(
      path.substr(path.rfind('/') + 1, path.rfind(".toml") - path.rfind('/') - 1));
  if (made.name.empty() || made.name.front() == '.' || made.name.find('/') != std::string::npos) {
    const toml::node* const name = table.get("name");
    return tl::unexpected(at(name != nullptr ? *name : table, path,
                             "name must not be empty, begin with a dot or contain a slash: it "
                             "becomes the name of a folder in the run"));
  }
  made.summary = table["summary"].value_or(std::string("composed in ") + path);
  made.source = path;
  std::vector<std::string> keys = {"name", "summary", "base", "whole"};
  for (const Slot& slot : slots()) keys.push_back(slot.name());
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(keys.begin(), keys.end(), name) == keys.end()) {
      return tl::unexpected(
          at(node, path, fmt::format("unknown key {}", name), hint_for(name, keys)));
    }
    for (const Slot& slot : slots()) {
      if (slot.name() != name) continue;
      auto choice = read_toml_choice(*slot.choices, node, path);
      if (!choice) return tl::unexpected(choice.error());
      made.*slot.choice = std::move(*choice);
    }
    if (name == "whole") {
      auto choice = read_toml_choice(wholes, node, path);
      if (!choice) return tl::unexpected(choice.error());
      made.whole = std::move(*choice);
    }
    if (name == "summary" && !node.is_string()) {
      return tl::unexpected(at(node, path, "summary must be a string"));
    }
  }
  return made;
}

Result<Composition> Registry::compose(const std::string& text) const {
  if (text.ends_with(".toml")) {
    Result<Composition> loaded = load(text);
    if (!loaded) return loaded;
    return checked(std::move(*loaded));
  }
  const std::string whole_text = spelled(text);
  const std::size_t plus = whole_text.find('+');
  const Written base(std::string_view(whole_text).substr(0, plus));
  const auto found =
      std::find_if(policies_.begin(), policies_.end(),
                   [&](const Composition& known) { return known.name == base.name; });
  if (found == policies_.end()) {
    std::vector<std::string> known;
    for (const Composition& policy : policies_) known.push_back(policy.name);
    return fail(Code::usage, fmt::format("no policy is named {}", base.name), {},
                hint_for(base.name, known));
  }
  Composition made = *found;
  made.name = whole_text;
  if (!base.told.empty()) {
    if (made.whole.name.empty()) {
      return fail(
          Code::usage,
          fmt::format("policy {} is made of slots, and {} could be an argument of any of them",
                      base.name, base.told),
          {}, "say which: " + std::string(base.name) + "+lease:60");
    }
    auto choice = read_choice(wholes.at(made.whole), base.told);
    if (!choice) return tl::unexpected(choice.error());
    made.whole = std::move(*choice);
  }
  for (std::size_t from = plus; from != std::string::npos;) {
    const std::size_t next = whole_text.find('+', from + 1);
    const std::string choice = whole_text.substr(from + 1, next - from - 1);
    if (const auto replaced = replace_slot(made, choice); !replaced) {
      return tl::unexpected(replaced.error());
    }
    from = next;
  }
  return checked(std::move(made));
}

}  // namespace almanac::policy
