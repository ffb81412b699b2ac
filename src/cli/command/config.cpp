// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac config show: the settings in force and where each comes from.
#include "cli/config.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/option_table.h"
#include "cli/program.h"
#include "text/without_password.h"

namespace almanac::cli {
namespace {

struct InForce {
  std::string name;
  std::string value;
  std::string source;
};

/// The default of the option that has it; "" = none.
std::string built_in(CLI::App& app, const Setting& setting) {
  if (*setting.option == '\0') return "";
  for (const CLI::Option* const option : configured_options(setting, app)) {
    if (std::string preset = preset_of(*option); !preset.empty()) return preset;
  }
  return "";
}

InForce in_force(CLI::App& app, const Setting& setting) {
  const std::string_view key = setting.key;
  const bool is_address = key == "url" || key == "listen" || key == "socket";
  const auto shown = [&](const std::string& value) {
    if (setting.is_secret && !value.empty()) return std::string("(hidden)");
    return text::without_passwords(is_address ? text::without_password(value) : value);
  };
  if (*setting.environment != '\0') {
    const char* const value = std::getenv(setting.environment);
    if (value != nullptr && *value != '\0') {
      return {setting.name(), shown(value), fmt::format("${}", setting.environment)};
    }
  }
  if (const Configuration::Value* const value = configuration().find(setting)) {
    return {setting.name(), value->is_table ? "(table)" : shown(value->text),
            fmt::format("{}:{}", value->from.file, value->from.line)};
  }
  return {setting.name(), built_in(app, setting), "default"};
}

Result<int> show(CLI::App& app, const ListOptions& options) {
  std::vector<InForce> all;
  for (const Setting& each : all_settings()) all.push_back(in_force(app, each));
  figure::Rows rows(all);
  rows.add("setting", "SETTING", &InForce::name);
  rows.add(figure::Tier::key, "value", "VALUE", &InForce::value);
  rows.add(figure::Tier::key, "source", "SOURCE", &InForce::source);
  const std::vector<std::string>& files = configuration().files();
  return options.print(std::move(rows),
                       files.empty() ? "\nNo configuration file was read (almanac help config).\n"
                                     : fmt::format("\nFiles: {}\n", fmt::join(files, ", ")));
}

}  // namespace

void register_config(Program& program) {
  CLI::App& noun = program.noun(Purpose::program, "config", "Show the settings of almanac.toml");
  CLI::App& command =
      *noun.add_subcommand("show", "Print the settings in force and where each comes from");
  const auto options = std::make_shared<ListOptions>();
  command
      .add_option("--config", program.configuration,
                  "Configuration file; overrides the machine's and your own")
      ->type_name("FILE")
      ->group(heading(Group::input));
  options->add_to(command);
  add_example(command, "almanac config show");
  add_example(command, "almanac config show --config test.toml -o json");
  program.on(command, [options, &program] { return show(program.app, *options); });
}

}  // namespace almanac::cli
