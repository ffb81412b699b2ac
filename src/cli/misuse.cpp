// SPDX-License-Identifier: Apache-2.0
#include "cli/misuse.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option_table.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({})) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

/// "did you mean almanac slurm doctor?" for a word that is a command below others; else "".
std::string below_another(const CLI::App& app, const std::string& word, const std::string& path) {
  std::vector<std::string> meant;
  for (const CLI::App* const command : app.get_subcommands({})) {
    const std::vector<std::string> names = commands_of(*command);
    const bool is_listed = !command->get_group().empty();
    if (is_listed && std::find(names.begin(), names.end(), word) != names.end())
      meant.push_back(fmt::format("{} {} {}", path, command->get_name(), word));
  }
  return meant.empty() ? "" : fmt::format("did you mean {}?", either(meant));
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string unknown(const std::string& kind, const std::string& word, const std::string& meant,
                    const std::string& path) {
  return fmt::format("almanac: no {} {} ({}{} --help lists them)", kind, word,
                     meant.empty() ? "" : meant + "; ", path);
}

/// The parts of `what` around `middle`; "" before it if it is not there.
std::pair<std::string, std::string> around(const std::string& what, std::string_view middle) {
  const std::size_t at = what.find(middle);
  if (at == std::string::npos) return {"", what};
  return {what.substr(0, at), what.substr(at + middle.size())};
}

/// Says that an option, or the argument that is the same, was given several times.
std::string given_twice(const CLI::App& app, const std::string& name, const std::string& limit) {
  const CLI::Option* const option = app.get_option_no_throw(name);
  std::vector<std::string> found;
  if (option != nullptr) found = option->results();
  for (std::string& each : found) each = fmt::format("\"{}\"", each);
  const bool has_place = option != nullptr && option->get_positional();
  return fmt::format("{} must be given at most {}, found {}",
                     has_place ? fmt::format("{} or {}", option->get_name(true), name) : name,
                     limit == "1" ? "once" : limit + " times",
                     found.empty() ? "more" : fmt::format("{}", fmt::join(found, " and ")));
}

/// What CLI11 says of a wrong value or a wrong number of values, with the option as the subject.
/// `words` are those that nothing takes.
std::string reworded(const CLI::App& app, const CLI::ParseError& error,
                     const std::vector<std::string>& words) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const auto [name, value] = around(around(what, "Could not convert: ").second, " = ");
    return fmt::format("{} must be a number that is not too large, found \"{}\"", name, value);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (const auto [name, kind] = around(what, ": 1 required "); !name.empty()) {
      return fmt::format("{} requires a value", name);
    }
    if (const auto [name, counts] = around(what, ": At Most "); !name.empty())
      return given_twice(app, name, around(counts, " ").first);
    const auto [name, counts] = around(what, ": At least ");
    const auto [needed, found] = around(counts, " required but received ");
    if (!needed.empty()) return fmt::format("{} requires {} values, found {}", name, needed, found);
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const auto [name, other] = around(what, " excludes ");
    return fmt::format("{} cannot be used with {}", name, other);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    return fmt::format("unexpected argument: {}", fmt::join(words, " "));
  }
  const auto [name, rule] = around(what, ": must ");
  return name.empty() ? what : fmt::format("{} must {}", name, rule);
}

}  // namespace

std::string misuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* last = &app;
  std::string above;
  std::string path = app.get_name();
  while (!last->get_subcommands().empty()) {
    last = last->get_subcommands().back();
    above = path;
    path += " " + last->get_name();
  }
  const std::vector<std::string> words = last->remaining();
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word.front() == '-' && word != "--";
  });
  if (option != words.end()) {
    const std::string name = option->substr(0, option->find('='));
    const std::vector<std::string> of_program = options_of(app);
    if (last != &app && std::find(of_program.begin(), of_program.end(), name) != of_program.end()) {
      return fmt::format("almanac: {} must be given before the command, as in {} {} VALUE{}", name,
                         app.get_name(), name, path.substr(app.get_name().size()));
    }
    return unknown("option", name, text::did_you_mean(name, options_of(*last)), path);
  }
  if (!words.empty()) {
    const std::vector<std::string> options = options_of(*last);
    const std::string meant = "--" + words.front();
    if (std::find(options.begin(), options.end(), meant) != options.end()) {
      return fmt::format(
          "almanac: unexpected argument: {} (did you mean {}?; {} --help lists all "
          "options)",
          words.front(), meant, path);
    }
  }
  if (last->get_require_subcommand_min() > 0) {
    if (!words.empty()) {
      const std::string below = below_another(*last, words[0], path);
      const std::string meant =
          below.empty() ? text::did_you_mean(words[0], commands_of(*last)) : below;
      return unknown("command", words[0], meant, path);
    }
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return last->help(above);
  }
  const std::string what = reworded(*last, error, words);
  const bool has_hint = what.ends_with(')');
  return fmt::format("almanac: {}{}", what, has_hint ? "" : fmt::format(" (see {} --help)", path));
}

void refuse_empty_values(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().back();
  for (const CLI::App* const given : {&app, last}) {
    for (const CLI::Option* const option : given->get_options()) {
      if (option->get_lnames().empty() || option->check_lname("comment")) continue;
      const std::vector<std::string>& values = option->results();
      if (std::find(values.begin(), values.end(), "") == values.end()) continue;
      throw CLI::ValidationError("--" + option->get_lnames().front(), "must not be empty");
    }
  }
}

}  // namespace almanac::cli
