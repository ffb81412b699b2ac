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

#include "table/stream.h"
#include "text/toml_reader.h"

namespace almanac::cli {
namespace {

using ValueKind = Setting::Kind;

constexpr const char* kMachineFile = "/etc/almanac/almanac.toml";
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
          pairs.emplace_back(
              &each, Configuration::Value{.text = value(each, *node),
                                          .from = text::toml_place(path(), node->source())});
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

  std::string resolved(const Setting& setting, const std::string& text) const {
    const std::filesystem::path told(text);
    if (setting.kind == ValueKind::text || text.empty() || told.is_absolute()) return text;
    const std::filesystem::path beside = std::filesystem::absolute(path()).parent_path() / told;
    std::error_code ignored;
    const bool is_path =
        setting.kind == ValueKind::path || std::filesystem::exists(beside, ignored);
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
  // The form of a list. What prints something else by default, such as TOML, goes on to do so.
  return setting.option != std::string_view("--output") || option.get_default_str() == "table";
}

/// Of the settings for one machine and those for Slurm, `serve` takes those of its engine.
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

}  // namespace

std::string Setting::name() const { return fmt::format("{}.{}", section, key); }

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> kSettings{
      {"connection",
       "socket",
       "Unix socket of the service",
       "",
       {},
       "ALMANAC_SOCKET",
       ValueKind::path},
      {"connection", "url", "URL of the service, instead of a socket", "", {}, "ALMANAC_URL"},
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
       "",
       {},
       "ALMANAC_CA",
       ValueKind::path},
      {"cluster",
       "file",
       "Cluster file, or NxG for N nodes of G GPUs",
       "--cluster",
       {"simulate", "sweep", "study", "compare-traces", "advise"},
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
      {"serve", "engine", "What runs the jobs: machine or slurm", "--engine", {"serve"}},
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
      {"machine", "limits", "Limits of users", "--limits", {"serve"}, "", ValueKind::path},
      {"machine", "idle", "Rule for jobs with idle GPUs", "--idle", {"serve"}, "", ValueKind::path},
      {"machine",
       "hooks",
       "Commands to run on job events",
       "--hooks",
       {"serve"},
       "",
       ValueKind::path},
      {"slurm", "way", "How to reach Slurm", "--way"},
      {"slurm",
       "levers",
       "What Almanac may change in Slurm",
       "--levers",
       {"serve"},
       "",
       ValueKind::path},
      {"slurm", "order", "The lever order: off, dry or on", "--order", {"serve"}},
      {"slurm", "agents", "Address and port for the agents of nodes", "--agents", {"serve"}},
      {"slurm",
       "agent_secret",
       "Secret shared with the agents",
       "--agent-secret",
       {"serve"},
       "",
       ValueKind::path},
  };
  return kSettings;
}

Result<void> Configuration::read(const std::string& path) {
  const auto text = table::read_text_file(path);
  if (!text) return tl::unexpected(text.error());
  auto pairs = text::read_toml_text(
      *text, path, [&](const toml::table& file) { return ConfigReader(path).read(file); });
  if (!pairs) {
    Error error = pairs.error();
    if (error.hint.empty()) error.hint = "almanac help config lists the keys";
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

const Configuration::Value* Configuration::find(const Setting& setting) const {
  const auto found = values_.find(setting.name());
  return found == values_.end() ? nullptr : &found->second;
}

Result<void> load_configuration(const std::string& named) {
  Configuration configuration;
  for (const std::string& each : {std::string(kMachineFile), user_file()}) {
    std::error_code failed;
    if (each.empty() || !std::filesystem::exists(each, failed)) continue;
    if (const auto read = configuration.read(each); !read) return read;
  }
  const std::string last = named.empty() ? from_environment("ALMANAC_CONFIG") : named;
  if (!last.empty()) {
    if (const auto read = configuration.read(last); !read) return read;
  }
  loaded() = std::move(configuration);
  return {};
}

const Configuration& configuration() { return loaded(); }

Result<void> apply_configuration(const Configuration& configuration, CLI::App& command) {
  // What runs the jobs comes first: other settings depend on it.
  for (const Setting& each : all_settings()) {
    const Configuration::Value* const value = configuration.find(each);
    CLI::Option* const option = value == nullptr || *each.option == '\0'
                                    ? nullptr
                                    : command.get_option_no_throw(each.option);
    if (option == nullptr || option->count() > 0 || is_excluded(*option) ||
        !concerns(each, command, *option) || !is_of_engine(each, command)) {
      continue;
    }
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
