// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "cli/value_check.h"
#include "machine/hooks.h"
#include "machine/limits.h"
#include "service/idle.h"
#include "steer/settings.h"
#include "study/norms.h"
#include "text/toml_file.h"

namespace almanac::cli {
namespace {

using ValueKind = Setting::Kind;

constexpr const char* kListsKeys = "almanac help config lists the keys";
constexpr const char* kMachineFile = "/etc/almanac/almanac.toml";
constexpr std::string_view kForm = "--output";
const std::string kUrl = "connection.url";
const std::string kSocket = "connection.socket";

std::string from_environment(const char* name) {
  const char* const value = *name == '\0' ? nullptr : std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Reads one file into pairs of a setting and its value.
class ConfigReader : text::TomlReader {
 public:
  using text::TomlReader::TomlReader;
  using Pairs = std::vector<std::pair<const Setting*, Configuration::Value>>;

  Pairs read(const toml::table& file) const {
    std::vector<std::string> sections;
    for (const Setting& each : all_settings()) {
      if (sections.empty() || sections.back() != each.section) sections.emplace_back(each.section);
    }
    allow(file, sections);
    Pairs pairs;
    for (const std::string& section : sections) {
      const toml::table* const keys = table(file, section.c_str());
      if (keys == nullptr) continue;
      std::vector<std::string> known;
      for (const Setting& each : all_settings()) {
        if (section == each.section) known.emplace_back(each.key);
      }
      allow(*keys, known);
      for (const Setting& each : all_settings()) {
        if (section != each.section) continue;
        if (const toml::node* const node = keys->get(each.key)) {
          const bool is_table = each.kind == ValueKind::table_or_path && node->is_table();
          pairs.emplace_back(
              &each, Configuration::Value{.text = is_table ? table_place(each) : value(each, *node),
                                          .from = text::toml_place(path(), node->source()),
                                          .is_table = is_table,
                                          .is_flag = node->is_boolean()});
        }
      }
    }
    const toml::node_view<const toml::node> both = file["connection"];
    if (both["url"] && both["socket"]) {
      refuse(*both["url"].node(), "connection.url and connection.socket are two places",
             "give one");
    }
    return pairs;
  }

 private:
  std::string value(const Setting& setting, const toml::node& node) const {
    const bool is_text = setting.kind == ValueKind::text || setting.kind == ValueKind::name_or_path;
    if (!is_text && !node.is_string()) {
      refuse(node, setting.kind == ValueKind::path
                       ? fmt::format("{} must be a path", setting.name())
                       : fmt::format("{} must be a table, or the path of a file", setting.name()));
    }
    if (const toml::array* const list = node.as_array()) {
      std::vector<std::string> parts;
      for (const toml::node& each : *list) parts.push_back(value(setting, each));
      return fmt::format("{}", fmt::join(parts, ","));
    }
    if (const auto* const number = node.as_integer()) return fmt::format("{}", number->get());
    if (const auto* const number = node.as_floating_point())
      return fmt::format("{}", number->get());
    if (const auto* const flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (!node.is_string()) {
      refuse(node, fmt::format("{} must be a text, a number or a list of texts", setting.name()));
    }
    return resolved(setting, node.as_string()->get());
  }

  /// Where the table is, once its content has been checked.
  std::string table_place(const Setting& setting) const {
    std::string place = fmt::format("{}{}{}", std::filesystem::absolute(path()).string(),
                                    text::kTableMark, setting.name());
    if (const auto checked = setting.check_table(place); !checked) {
      throw text::TomlRefused{checked.error()};
    }
    return place;
  }

  std::string resolved(const Setting& setting, const std::string& text) const {
    const std::filesystem::path told(text);
    if (setting.kind == ValueKind::text || text.empty() || told.is_absolute()) return text;
    const std::filesystem::path beside = std::filesystem::absolute(path()).parent_path() / told;
    std::error_code ignored;
    const bool is_path =
        setting.kind != ValueKind::name_or_path || std::filesystem::exists(beside, ignored);
    return is_path ? beside.lexically_normal().string() : text;
  }
};

Configuration& loaded() {
  static Configuration configuration;
  return configuration;
}

std::string user_file() {
  if (const std::string folder = from_environment("XDG_CONFIG_HOME"); !folder.empty()) {
    return folder + "/almanac/almanac.toml";
  }
  const std::string home = from_environment("HOME");
  return home.empty() ? "" : home + "/.config/almanac/almanac.toml";
}

/// "trace convert".
std::string spelled(const CLI::App& command) {
  std::string words = command.get_name();
  for (const CLI::App* each = command.get_parent();
       each != nullptr && each->get_parent() != nullptr; each = each->get_parent()) {
    words = each->get_name() + " " + words;
  }
  return words;
}

/// Whether `setting` is a default of `option` of this command.
bool concerns(const Setting& setting, const CLI::App& command, const CLI::Option& option) {
  const std::string words = spelled(command);
  if (!setting.commands.empty() && std::find(setting.commands.begin(), setting.commands.end(),
                                             words) == setting.commands.end()) {
    return false;
  }
  // The setting `output` is for lists. A command whose default is another form, such as TOML, keeps
  // it.
  return setting.option != kForm || option.get_default_str() == "table";
}

/// `serve` takes only the settings of its engine: those for one machine or those for Slurm.
bool is_of_engine(const Setting& setting, const CLI::App& command) {
  const CLI::Option* const engine = command.get_option_no_throw("--engine");
  if (engine == nullptr || command.get_name() != "serve") return true;
  const std::string chosen =
      engine->count() > 0 ? engine->results().front() : engine->get_default_str();
  const std::string_view section = setting.section;
  return (section != "machine" && section != "slurm") || section == chosen;
}

bool is_excluded(const CLI::Option& option) {
  const auto others = option.get_excludes();
  return std::any_of(others.begin(), others.end(),
                     [](const CLI::Option* other) { return other->count() > 0; });
}

/// Checks the content of a table as its command reads it.
template <auto kRead>
Result<void> check_by(const std::string& place) {
  if (const auto read = kRead(place); !read) return tl::unexpected(read.error());
  return {};
}

Setting table(const char* section, const char* key, const char* about, const char* option,
              Result<void> (*check)(const std::string&), const char* command = "serve") {
  return {section, key, about, option, {command}, "", ValueKind::table_or_path, false, check};
}

}  // namespace

std::string Setting::name() const { return fmt::format("{}.{}", section, key); }

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> kSettings{
      {"connection",
       "socket",
       "Unix socket of the service",
       "--socket",
       {},
       "ALMANAC_SOCKET",
       ValueKind::path},
      {"connection", "url", "URL of the service, instead of a socket", "--url", {}, "ALMANAC_URL"},
      {"connection",
       "token",
       "Token to use with the URL",
       "",
       {},
       "ALMANAC_TOKEN",
       ValueKind::text,
       true},
      {"connection",
       "ca",
       "PEM file of the authority that certifies the URL",
       "--ca",
       {},
       "ALMANAC_CA",
       ValueKind::path},
      {"cluster",
       "file",
       "Cluster file, or NxG for N nodes of G GPUs",
       "--cluster",
       {"simulate", "sweep", "study", "compare-traces", "advise", "capacity"},
       "",
       ValueKind::name_or_path},
      {"cluster", "time_zone", "Time zone of logs that name none", "--time-zone"},
      {"cluster",
       "vc",
       "Field of Slurm's accounting that is a job's virtual cluster",
       "--vc",
       {"advise", "slurm import"}},
      {"policy", "policies", "Policies to simulate", "--policy", {"simulate", "sweep"}},
      {"policy",
       "speed",
       "Speed models for simulations",
       "--speed",
       {"simulate", "sweep"},
       "",
       ValueKind::name_or_path},
      {"policy",
       "power",
       "Power model for simulations",
       "--power",
       {"simulate", "sweep"},
       "",
       ValueKind::name_or_path},
      {"output", "format", "Output format of lists: table, wide, json or csv", "--output"},
      {"serve",
       "engine",
       "What runs the jobs: machine, slurm or kubernetes",
       "--engine",
       {"serve"}},
      {"serve",
       "state",
       "State directory",
       "--state",
       {"serve", "backup", "restore", "slurm status", "slurm agents", "slurm levers", "slurm undo"},
       "",
       ValueKind::path},
      {"serve", "policy", "Scheduling policy", "--policy", {"serve"}, "", ValueKind::name_or_path},
      {"serve",
       "shadow",
       "Policy to compare with it",
       "--shadow",
       {"serve"},
       "",
       ValueKind::name_or_path},
      {"serve", "speed", "Speed models", "--speed", {"serve"}, "", ValueKind::name_or_path},
      {"serve", "listen", "Address and port of the dashboard and API", "--listen", {"serve"}},
      {"serve",
       "tls_cert",
       "Certificate of this host",
       "--tls-cert",
       {"serve"},
       "",
       ValueKind::path},
      {"serve", "tls_key", "Key of the certificate", "--tls-key", {"serve"}, "", ValueKind::path},
      {"machine",
       "cluster",
       "Cluster file of this machine",
       "--cluster",
       {"serve"},
       "",
       ValueKind::path},
      {"machine", "power", "Power model", "--power", {"serve"}, "", ValueKind::name_or_path},
      {"machine", "max_grace", "Longest grace period of a job", "--max-grace", {"serve"}},
      {"machine", "requeue_for", "How long ended jobs can be requeued", "--requeue-for", {"serve"}},
      {"machine", "age_cap", "Wait after which a job goes first", "--age-cap", {"serve"}},
      table("machine", "limits", "Limits of users", "--limits", check_by<machine::read_limits>),
      table("machine", "idle", "Rule for jobs with idle GPUs", "--idle",
            check_by<service::read_idle_rule>),
      table("machine", "hooks", "Commands to run on job events", "--hooks",
            check_by<machine::read_hooks>),
      {"slurm", "way", "How to reach Slurm", "--way"},
      table("slurm", "levers", "What Almanac may change in Slurm", "--levers",
            check_by<steer::read_settings>),
      {"slurm", "order", "The lever order: off, dry or on", "--order", {"serve"}},
      {"slurm", "agents", "Address and port for the agents of nodes", "--agents", {"serve"}},
      {"slurm",
       "agent_secret",
       "Secret shared with the agents",
       "--agent-secret",
       {"serve"},
       "",
       ValueKind::path},
      table("efficiency", "norms", "Norms for the use of GPUs (almanac help norms)", "--norms",
            check_by<study::read_norms>, "efficiency"),
      {"agent", "daemon", "Address of the service", "--daemon", {"agent"}},
      {"agent", "secret", "Secret shared with it", "--secret", {"agent"}, "", ValueKind::path},
      {"agent", "node", "Name of this node in Slurm", "--node", {"agent"}},
      {"agent",
       "state",
       "Directory for the list of changes to undo",
       "--state",
       {"agent"},
       "",
       ValueKind::path},
      {"agent",
       "progress",
       "Directory in which jobs report their use",
       "--progress",
       {"agent"},
       "",
       ValueKind::path},
  };
  return kSettings;
}

Result<void> Configuration::read(const std::string& path) {
  auto pairs = text::read_toml_file<ConfigReader>(path);
  if (!pairs) {
    Error error = pairs.error();
    if (error.code == Code::invalid && error.hint.empty()) error.hint = kListsKeys;
    return tl::unexpected(std::move(error));
  }
  for (auto& [setting, value] : *pairs) {
    // A file names one place of the service, and so replaces the other kind of an earlier file.
    if (setting->name() == kUrl) values_.erase(kSocket);
    if (setting->name() == kSocket) values_.erase(kUrl);
    values_[setting->name()] = std::move(value);
  }
  files_.push_back(path);
  return {};
}

Result<void> Configuration::check(CLI::App& app) const {
  for (const Setting& each : all_settings()) {
    const Value* const value = find(each);
    if (value == nullptr || each.kind == ValueKind::table_or_path) continue;
    std::string problem;
    for (CLI::Option* const option : configured_options(each, app)) {
      problem = problem_of(*option, value->text);
      if (problem.empty()) break;
    }
    if (problem.empty() && value->is_flag)
      problem = fmt::format("must be a text in quotes, a number or a list, found {}", value->text);
    if (problem.empty()) continue;
    const char* const colon = problem.starts_with("must ") ? "" : ":";
    return fail(Code::invalid, fmt::format("{}{} {}", each.name(), colon, problem), value->from,
                problem.ends_with(')') ? "" : kListsKeys);
  }
  return {};
}

const Configuration::Value* Configuration::find(const Setting& setting) const {
  const auto found = values_.find(setting.name());
  return found == values_.end() ? nullptr : &found->second;
}

std::vector<CLI::Option*> configured_options(const Setting& setting, CLI::App& app) {
  std::vector<CLI::Option*> found;
  for (CLI::App* const command : app.get_subcommands([](CLI::App*) { return true; })) {
    CLI::Option* const option = command->get_option_no_throw(setting.option);
    if (option != nullptr && concerns(setting, *command, *option)) found.push_back(option);
    for (CLI::Option* const each : configured_options(setting, *command)) found.push_back(each);
  }
  return found;
}

Result<void> load_configuration(const std::string& named, CLI::App& app) {
  Configuration configuration;
  const auto read_checked = [&](const std::string& path) -> Result<void> {
    if (auto read = configuration.read(path); !read) return read;
    return configuration.check(app);
  };
  for (const std::string& each : {std::string(kMachineFile), user_file()}) {
    std::error_code failed;
    if (each.empty() || !std::filesystem::exists(each, failed)) continue;
    if (auto read = read_checked(each); !read) return read;
  }
  const std::string last = named.empty() ? from_environment("ALMANAC_CONFIG") : named;
  if (!last.empty()) {
    if (auto read = read_checked(last); !read) return read;
  }
  loaded() = std::move(configuration);
  return {};
}

const Configuration& configuration() { return loaded(); }

Result<void> apply_configuration(const Configuration& configuration, CLI::App& command) {
  // What runs the jobs comes first: other settings depend on it.
  for (const Setting& each : all_settings()) {
    const Configuration::Value* const value = configuration.find(each);
    // What a variable of the environment overrides is for place_in_force().
    const bool is_default = *each.option != '\0' && *each.environment == '\0';
    CLI::Option* const option =
        value == nullptr || !is_default ? nullptr : command.get_option_no_throw(each.option);
    if (option == nullptr || option->count() > 0 || is_excluded(*option) ||
        !concerns(each, command, *option) || !is_of_engine(each, command)) {
      continue;
    }
    const bool is_form = each.option == kForm;
    if (is_form && !problem_of(*option, value->text).empty()) continue;
    try {
      option->default_val(value->text);
    } catch (const CLI::Error&) {
      return fail(Code::invalid,
                  fmt::format("{} is \"{}\", which {} of almanac {} does not take", each.name(),
                              value->text, each.option, spelled(command)),
                  value->from, fmt::format("almanac {} --help", spelled(command)));
    }
  }
  return {};
}

Error naming_its_setting(Error error, const Configuration& configuration, CLI::App& command) {
  for (const Setting& each : all_settings()) {
    const Configuration::Value* const value = configuration.find(each);
    const CLI::Option* const option =
        *each.option == '\0' ? nullptr : command.get_option_no_throw(each.option);
    if (value == nullptr || value->text.empty() || option == nullptr || option->count() > 0 ||
        !concerns(each, command, *option)) {
      continue;
    }
    const bool is_its =
        error.where.file == value->text || error.message.find(value->text) != std::string::npos;
    if (!is_its) continue;
    error.hint += fmt::format("{}{} in {}:{}", error.hint.empty() ? "" : "; ", each.name(),
                              value->from.file, value->from.line);
    return error;
  }
  return error;
}

serve::Place place_in_force(serve::Place given, const Configuration& configuration) {
  const auto configured = [&](std::string_view key) -> std::string {
    for (const Setting& each : all_settings()) {
      if (each.section != std::string_view("connection") || each.key != key) continue;
      if (std::string value = from_environment(each.environment); !value.empty()) return value;
      const Configuration::Value* const value = configuration.find(each);
      return value == nullptr ? "" : value->text;
    }
    return {};
  };
  if (given.socket.empty() && given.url.empty()) {
    // The strongest source names one place.
    const std::string socket = from_environment("ALMANAC_SOCKET");
    if (socket.empty()) given.url = configured("url");
    if (given.url.empty()) given.socket = configured("socket");
  }
  if (given.token.empty()) given.token = configured("token");
  if (given.ca.empty()) given.ca = configured("ca");
  return given;
}

}  // namespace almanac::cli
