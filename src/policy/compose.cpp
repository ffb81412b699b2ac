// SPDX-License-Identifier: Apache-2.0

/// \file
/// Turns what a user writes - a name, a name with slots replaced, a TOML file - into a composition.
#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "policy/conduct.h"
#include "policy/registry.h"
#include "text/nearest.h"
#include "text/toml_reader.h"

namespace almanac::policy {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Names are written with '_' here and often with '-' by people. A '-' before a digit of a value is
/// a sign.
std::string spelled(std::string_view text) {
  std::string name(text);
  bool is_value = false;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '+' || name[at] == ':') is_value = name[at] == ':';
    const bool is_sign = is_value && at + 1 < name.size() && is_digit(name[at + 1]);
    if (name[at] == '-' && !is_sign) name[at] = '_';
  }
  return name;
}

/// Where the next part of a policy begins, from `from` on: at a '+' that is not in a number such as
/// 1e+06. npos for none.
std::size_t next_part(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('+', from); at != std::string_view::npos;
       at = text.find('+', at + 1)) {
    const bool is_exponent = at >= 2 && at + 1 < text.size() && text[at - 1] == 'e' &&
                             is_digit(text[at - 2]) && is_digit(text[at + 1]);
    if (!is_exponent) return at;
  }
  return std::string_view::npos;
}

std::string hint_for(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = text::did_you_mean(word, known);
  return fmt::format("{}{}known: {}", meant, meant.empty() ? "" : "; ", fmt::join(known, ", "));
}

/// Returns a hint for an unknown word if the known ones are too many to list.
std::string list_hint(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = text::did_you_mean(word, known);
  return fmt::format("{}{}almanac policy list shows all", meant, meant.empty() ? "" : "; ");
}

/// "easy:4" is the name "easy" with the values "4". Of "easy:" the values are ":", which no
/// parameter accepts.
struct Written {
  std::string_view name;
  std::string_view told;

  explicit Written(std::string_view text)
      : name(text.substr(0, text.find(':'))),
        told(text.substr(std::min(text.size(), name.size() + 1))) {
    if (told.empty()) told = text.substr(name.size());
  }
};

/// What `error` says is wrong, said of the choice `of`, which policy describe knows by `described`.
Error said_of(const std::string& of, const std::string& described, Error error) {
  error.message = fmt::format("{}: {}", of, error.message);
  if (error.hint.empty()) {
    error.hint = fmt::format("almanac policy describe {} shows its parameters", described);
  }
  return error;
}

Result<Choice> read_choice(const Entry& entry, std::string_view told,
                           const std::string& described) {
  auto values = read_values(entry.parameters, told);
  if (!values) return tl::unexpected(said_of(entry.name, described, values.error()));
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
  std::ostringstream text;
  text << toml::node_view<const toml::node>(node);
  const Error wrong =
      at(node, file,
         fmt::format("{} must be {}, found {}", parameter.name, parameter.expected(), text.str()));
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
  const std::string plus = choices.slot() == "whole" ? "" : "+";
  auto made = read_choice(*entry, written.told, plus + entry->name);
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

/// The slot for which `text` names a choice; null where it is a value of a choice that is there
/// already, or no choice.
const Registry::Slot* named_slot(const std::array<Registry::Slot, 10>& slots,
                                 const Composition& composition, const Written& written) {
  const Registry::Slot* found = nullptr;
  for (const Registry::Slot& slot : slots) {
    const Choice& choice = composition.*slot.choice;
    const auto& parameters = slot.choices->at(choice).parameters;
    const bool is_value = !written.told.empty() && choice.name != written.name &&
                          find_parameter(parameters, written.name) != nullptr;
    if (is_value) return nullptr;
    if (found == nullptr && slot.choices->find(written.name) != nullptr) found = &slot;
  }
  return found;
}

/// How the parts of a policy get values, as in "+easy:1 sets depth".
std::string value_hint(const Registry& known, const Composition& composition) {
  std::vector<std::string> ways;
  for (const Registry::Slot& slot : known.slots()) {
    const Entry& entry = slot.choices->at(composition.*slot.choice);
    if (entry.parameters.empty()) continue;
    Choice told = entry.name;
    told.told[entry.parameters.front().name] = entry.parameters.front().usual;
    ways.push_back(fmt::format("+{} sets {}", to_string(told, entry.parameters),
                               entry.parameters.front().name));
  }
  if (ways.empty()) return fmt::format("no part of {} takes a value", composition.name);
  return fmt::format("its parts do: {}", fmt::join(ways, ", "));
}

/// "order gpu_time (smallest predicted GPU time first)".
std::string part_in_words(const Registry::Slot& slot, const Composition& composition) {
  const Choice& choice = composition.*slot.choice;
  const Entry& entry = slot.choices->at(choice);
  return fmt::format("{} {} ({})", slot.name(), to_string(choice, entry.parameters), entry.summary);
}

/// Adds the sources of "ours; Lifka JSSPP'95" that `sources` lacks.
void add_sources(std::string_view listed, std::vector<std::string>& sources) {
  constexpr std::string_view kBetween = "; ";
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = listed.find(kBetween);
    const std::string_view source = listed.substr(0, end);
    if (std::find(sources.begin(), sources.end(), source) == sources.end())
      sources.emplace_back(source);
    if (end != std::string_view::npos) listed.remove_prefix(end + kBetween.size());
  }
}

/// Describes a policy whose slots differ from those of `base` by what decides: the order, the pass,
/// the estimate where one is read, and what else is not as usual.
void describe_parts(const Registry& known, const Composition& base, Composition& made) {
  const Composition usual;
  const bool is_whole = !made.whole.name.empty();
  const bool believes = known.traits(made).has(Trait::reads_run_times);
  std::vector<std::string> parts;
  std::vector<std::string> sources;
  if (is_whole) parts.push_back(base.summary);
  if (is_whole) sources.push_back(base.source);
  bool is_changed = false;
  for (const Registry::Slot& slot : known.slots()) {
    const Choice& choice = made.*slot.choice;
    const bool differs = choice != base.*slot.choice;
    is_changed = is_changed || differs;
    const bool is_read = slot.choices != &known.estimates || believes;
    const bool decides = slot.choices == &known.orders || slot.choices == &known.passes ||
                         slot.choices == &known.estimates || choice != usual.*slot.choice;
    if (!is_read || !(is_whole ? differs : decides || differs)) continue;
    parts.push_back(part_in_words(slot, made));
    add_sources(slot.choices->at(choice).source, sources);
  }
  if (!is_changed) return;
  made.summary = fmt::format("{}", fmt::join(parts, ", "));
  made.source = fmt::format("{}", fmt::join(sources, "; "));
}

/// What `one` bars and `other` does.
std::optional<Trait> barred_by(const Entry& one, const Entry& other) {
  std::optional<Trait> barred;
  one.traits.bars.each([&](Trait each) {
    if (!barred && other.traits.has.has(each)) barred = each;
  });
  return barred;
}

Error no_policy(const Registry& registry, std::string_view name) {
  std::vector<std::string> known;
  for (const Composition& policy : registry.policies()) known.push_back(policy.name);
  for (const Registry::Slot& slot : registry.slots()) {
    for (const Entry& each : slot.choices->entries()) known.push_back(each.name);
    if (slot.choices->find(name) == nullptr) continue;
    return {
        Code::usage,
        fmt::format("{} is no policy: it is a part of policies, of the slot {}", name, slot.name()),
        {},
        "add it to a policy, as in " + example_with(name)};
  }
  return {Code::usage,
          name.empty() ? std::string("a policy must begin with the name of a policy, found none")
                       : fmt::format("no policy is named {}", name),
          {},
          list_hint(name, known)};
}

/// Whether no choice of a composition lacks or bars what another one has.
bool fits_together(const Registry& registry, const Composition& made) {
  const auto all = registry.slots();
  const auto traits_of = [&](const Registry::Slot& slot) -> const Traits& {
    return slot.choices->at(made.*slot.choice).traits;
  };
  TraitSet all_have;
  for (const Registry::Slot& slot : all) all_have.add(traits_of(slot).has);
  return std::all_of(all.begin(), all.end(), [&](const Registry::Slot& one) {
    TraitSet lacks = traits_of(one).needs;
    lacks.remove(all_have);
    return lacks.empty() && std::none_of(all.begin(), all.end(), [&](const Registry::Slot& other) {
             return &other != &one && traits_of(one).bars.any_of(traits_of(other).has);
           });
  });
}

/// Names up to two choices with the trait `needed` that make the composition complete: those that
/// change least, because they have the fewest other traits.
std::string hint_with(const Registry& registry, const Composition& composition, Trait needed) {
  std::vector<std::pair<int, std::string>> would_do;
  for (const Registry::Slot& slot : registry.slots()) {
    for (const Entry& each : slot.choices->entries()) {
      if (!each.traits.has.has(needed)) continue;
      Composition tried = composition;
      tried.*slot.choice = *read_choice(each, "", "+" + each.name);
      if (!fits_together(registry, tried)) continue;
      int traits = 0;
      each.traits.has.each([&](Trait) { ++traits; });
      would_do.emplace_back(traits, "+" + each.name);
    }
  }
  if (would_do.empty()) return "no single choice is enough; almanac policy list shows all choices";
  std::stable_sort(would_do.begin(), would_do.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  return would_do.size() == 1
             ? "add " + would_do[0].second
             : fmt::format("add {}, for example, or {}", would_do[0].second, would_do[1].second);
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
      wrong = Error{Code::usage,
                    fmt::format("policy {}: {} requires a choice that {}", composition.name, name,
                                clause(needed)),
                    {},
                    hint_with(*this, composition, needed)};
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
      if (!values) return tl::unexpected(said_of(entry.name, "+" + entry.name, values.error()));
      choice.told[parameter->name] = std::move(values->at(parameter->name));
      return {};
    }
  }
  for (const Slot& slot : slots()) {
    const Entry* const entry = slot.choices->find(written.name);
    if (entry == nullptr) continue;
    auto made = read_choice(*entry, written.told, "+" + entry->name);
    if (!made) return tl::unexpected(made.error());
    composition.*slot.choice = std::move(*made);
    return {};
  }
  std::vector<std::string> known;
  for (const Slot& slot : slots()) {
    for (const Entry& entry : slot.choices->entries()) known.push_back(entry.name);
  }
  return fail(Code::usage, fmt::format("no part of a policy is named {}", written.name), {},
              list_hint(written.name, known));
}

Result<Composition> Registry::load(const std::string& path) const {
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    const auto line = static_cast<std::int64_t>(error.source().begin.line);
    return fail(line > 0 ? Code::usage : Code::not_found, text::toml_problem(error),
                {.file = path, .line = line});
  }
  Composition made;
  if (const toml::node* base = table.get("base")) {
    const auto text = base->value<std::string>();
    // A file as a base could name itself.
    if (!text || text->ends_with(".toml")) {
      return tl::unexpected(at(*base, path, "base must be the name of a policy, not of a file"));
    }
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
  const std::size_t plus = next_part(whole_text, 0);
  const Written base(std::string_view(whole_text).substr(0, plus));
  const auto found =
      std::find_if(policies_.begin(), policies_.end(),
                   [&](const Composition& known) { return known.name == base.name; });
  if (found == policies_.end()) return tl::unexpected(no_policy(*this, base.name));
  Composition made = *found;
  if (!base.told.empty()) {
    if (made.whole.name.empty()) {
      return fail(
          Code::usage,
          fmt::format("policy {} takes no value after a colon, found \"{}\"", base.name, base.told),
          {}, value_hint(*this, made));
    }
    auto choice = read_choice(wholes.at(made.whole), base.told, made.name);
    if (!choice) return tl::unexpected(choice.error());
    made.whole = std::move(*choice);
  }
  made.name = whole_text;
  const auto all = slots();
  std::map<const Registry::Slot*, std::string> named;
  for (std::size_t from = plus; from != std::string::npos;) {
    const std::size_t next = next_part(whole_text, from + 1);
    const std::string part = whole_text.substr(from + 1, next - from - 1);
    if (part.empty()) {
      return fail(Code::usage,
                  fmt::format("policy {} must have a part after each +, found none", whole_text),
                  {}, "almanac policy list shows all parts");
    }
    if (const Slot* const slot = named_slot(all, made, Written(part)); slot != nullptr) {
      const auto [other, is_first] = named.emplace(slot, part);
      if (!is_first) {
        return fail(Code::usage,
                    fmt::format("policy {} must have at most one {}, found {} and {}", whole_text,
                                slot->name(), other->second, part),
                    {}, "leave one of them out");
      }
    }
    if (const auto replaced = replace_slot(made, part); !replaced) {
      return tl::unexpected(replaced.error());
    }
    from = next;
  }
  describe_parts(*this, *found, made);
  return checked(std::move(made));
}

}  // namespace almanac::policy
