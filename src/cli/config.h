// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac.toml: defaults for options and for the connection to the service. Sources, the strongest
/// first: options of the command line, environment variables, the file named by --config or
/// ALMANAC_CONFIG, the user's file, the machine's file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "serve/client.h"

namespace almanac::cli {

/// A key of almanac.toml.
struct Setting {
  enum class Kind {
    text,
    path,           ///< Relative paths start at the folder of the file.
    name_or_path,   ///< A path if such a file is there, else a name.
    table_or_path,  ///< A table of almanac.toml, or the path of a file with the same content.
  };

  const char* section;
  const char* key;
  const char* about;
  const char* option = "";              ///< That it is the default of; "" = none.
  std::vector<const char*> commands{};  ///< That have this option; empty = all that have it.
  const char* environment = "";         ///< Variable that overrides it; "" = none.
  Kind kind = Kind::text;
  bool is_secret = false;
  Result<void> (*check_table)(const std::string& place) = nullptr;  ///< Of a table_or_path.

  std::string name() const;  ///< "connection.url".
};

/// All keys, by section.
const std::vector<Setting>& all_settings();

/// The values of one or several files.
class Configuration {
 public:
  struct Value {
    std::string text;       ///< Of a table "almanac.toml#machine.limits" (text/toml_file.h).
    Where from;             ///< File and line.
    bool is_table = false;  ///< The file holds a table instead of its path.
    bool is_flag = false;   ///< true or false without quotes.
  };

  /// Adds the values of a file over those that are there. Fails with not_found or unavailable if it
  /// cannot be read, and with invalid for an unknown key, a value of a wrong type and a wrong
  /// table, naming the line.
  Result<void> read(const std::string& path);
  /// Fails with invalid, naming the line, if no command of `app` takes a value.
  Result<void> check(CLI::App& app) const;

  /// Null = no file has it.
  const Value* find(const Setting& setting) const;
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::map<std::string, Value> values_;  // by Setting::name()
  std::vector<std::string> files_;
};

/// Reads and checks the files of this machine, of this user and `named`, or the one that
/// ALMANAC_CONFIG names, and makes configuration() return them. The first two may be missing.
Result<void> load_configuration(const std::string& named, CLI::App& app);
/// What load_configuration() read; before that nothing.
const Configuration& configuration();

/// Gives the options of `command` that were not on the command line their configured defaults.
/// A command that does not know the configured form of lists keeps its own. Fails with invalid if
/// an option does not take its value.
Result<void> apply_configuration(const Configuration& configuration, CLI::App& command);

/// Adds to an error that is about a value of almanac.toml, such as a cluster file that does not
/// exist, which setting of which line gave `command` that value.
Error naming_its_setting(Error error, const Configuration& configuration, CLI::App& command);

/// The options of all commands of `app` that `setting` is a default of.
std::vector<CLI::Option*> configured_options(const Setting& setting, CLI::App& app);

/// The place of the service: as the options say, else the environment, else the configuration.
serve::Place place_in_force(serve::Place given, const Configuration& configuration);

}  // namespace almanac::cli
