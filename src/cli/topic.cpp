// SPDX-License-Identifier: Apache-2.0
#include "cli/topic.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/config.h"
#include "cli/help_page.h"
#include "inference/profile/board.h"
#include "inference/profile/model.h"
#include "inference/registry.h"
#include "policy/registry.h"
#include "study/norms.h"
#include "text/wrap.h"
#include "trace/format.h"
#include "trace/partitions.h"

namespace almanac::cli {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string paragraph(const std::string& text, std::size_t width) {
  return fmt::format("{}\n", fmt::join(text::wrap(text, width), "\n"));
}

std::string name_list(const Entries& entries, std::size_t width) {
  constexpr std::size_t kWidest = 26;
  std::size_t column = 0;
  for (const auto& [name, words] : entries) {
    if (name.size() <= kWidest) column = std::max(column, name.size() + 4);
  }
  std::string page;
  for (const auto& [name, words] : entries) page += help_entry(name, words, column, width);
  return page;
}

template <typename Slot>
std::string slot_list(const char* heading, const Slot& slot, std::size_t width) {
  Entries entries;
  for (const auto& each : slot.entries()) entries.emplace_back(each.name, each.summary);
  return fmt::format("\n{}:\n{}", heading, name_list(entries, width));
}

std::string formats_page(std::size_t width) {
  Entries entries;
  for (const trace::Format& each : trace::formats().all()) {
    entries.emplace_back(each.name, each.summary);
  }
  return paragraph(
             "Almanac recognizes the format of a job log from its content; --format NAME overrides "
             "that. Files ending in .gz or .zst are decompressed.",
             width) +
         "\nJob logs and cluster files:\n" + name_list(entries, width) + "\n" +
         paragraph(
             "For any other CSV file write a column map (--columns FILE): a TOML file that names "
             "the column of each field. docs/reference/formats.md describes it and all formats.",
             width) +
         "\nFrom Slurm:\n" + help_example(fmt::format("{} > log.txt", trace::kSacctCommand), width);
}

std::string policies_page(std::size_t width) {
  Entries entries;
  for (const policy::Composition& each : policy::registry().policies()) {
    entries.emplace_back(each.name, each.summary);
  }
  std::sort(entries.begin(), entries.end());
  return paragraph("--policy takes one or several of these names, separated by commas.", width) +
         "\nPolicies:\n" + name_list(entries, width) + "\nSets of policies:\n" +
         name_list({{"quick", "almanac, fifo, easy, las and srtf"},
                    {"all", "Every policy in the list that has something to do in the log"}},
                   width) +
         "\n" +
         paragraph(
             "To replace a part of a policy add it with +, as in qssf+easy:4+best_fit; a value "
             "after a colon is a parameter of that part. A policy can also be a TOML file "
             "(almanac policy describe NAME prints one).",
             width) +
         "\nSee also:\n" +
         name_list({{"almanac policy list", "all policies and parts, with their sources"},
                    {"almanac policy describe NAME", "what a policy is made of, needs and does"}},
                   width);
}

std::string serving_page(std::size_t width) {
  const inference::Registry& known = inference::registry();
  return paragraph(
             "almanac inference simulates replicas of a language model. Names that its options "
             "take:",
             width) +
         slot_list("Batching (--batch)", known.formers, width) +
         slot_list("Routing (--router)", known.routers, width) +
         slot_list("Scaling (--scaler)", known.scalers, width) +
         slot_list("Formats of request logs", known.formats, width) + "\nGPU types (--board):\n" +
         "  " +
         fmt::format("{}\n", fmt::join(text::wrap(inference::board_names(), width - 2), "\n  ")) +
         "\nModels (--model):\n  " +
         fmt::format(
             "{}\n",
             fmt::join(text::wrap(fmt::format("{}", fmt::join(inference::model_names(), ", ")),
                                  width - 2),
                       "\n  "));
}

std::string environment_page(std::size_t width) {
  Entries entries;
  for (const Variable& each : variables()) entries.emplace_back(each.name, each.words);
  return paragraph("Environment variables that almanac reads:", width) + name_list(entries, width) +
         "\n" + paragraph("Jobs get variables of their own: docs/guide/live.md lists them.", width);
}

std::string exit_status_page(std::size_t width) {
  Entries entries;
  for (const Meaning& each : exit_statuses()) {
    entries.emplace_back(fmt::format("{}", static_cast<int>(each.status)), each.words);
  }
  return paragraph("Exit statuses of every command:", width) + name_list(entries, width) + "\n" +
         paragraph("Commands with exit statuses of their own list them in their --help.", width);
}

std::string config_page(std::size_t width) {
  std::string page = paragraph(
      "almanac.toml holds defaults for options and the connection to the service. Almanac reads "
      "these files; a later one overrides an earlier one:",
      width);
  page +=
      "  /etc/almanac/almanac.toml\n"
      "  $XDG_CONFIG_HOME/almanac/almanac.toml, or ~/.config/almanac/almanac.toml\n"
      "  the file of --config FILE or $ALMANAC_CONFIG\n\n";
  page += paragraph(
      "Environment variables override files, and options override both. Relative paths start at "
      "the directory of the file. almanac config show prints the values in force and where each "
      "comes from.",
      width);
  std::string_view section;
  for (const Setting& each : all_settings()) {
    if (section != each.section) page += fmt::format("\n[{}]\n", each.section);
    section = each.section;
    std::string words = each.about;
    if (*each.environment != '\0') words += fmt::format(" (${})", each.environment);
    if (*each.option != '\0') {
      words += each.commands.size() < 2
                   ? fmt::format(" ({})", each.option)
                   : fmt::format(" ({} of {})", each.option, fmt::join(each.commands, ", "));
    }
    page += help_entry(each.key, words, 16, width);
  }
  return page +
         "\nExample:\n"
         "  [connection]\n"
         "  url = \"https://gpu.example.org:8443\"\n\n"
         "  [cluster]\n"
         "  file = \"cluster.toml\"\n"
         "  time_zone = \"Europe/Berlin\"\n\n"
         "  [output]\n"
         "  format = \"wide\"\n";
}

std::string norms_page(std::size_t width) {
  Entries entries;
  const study::Norms usual;
  for (const study::Norm& each : study::known_norms()) {
    entries.emplace_back(fmt::format("{} = {:g}", each.key, usual.*each.value),
                         fmt::format("{} ({})", each.about, each.source));
  }
  std::vector<std::string> strong;
  for (const std::string& each : usual.strong_gpus) strong.push_back(fmt::format("\"{}\"", each));
  return paragraph(
             "almanac efficiency --alerts and its letters report jobs that break these norms. A "
             "norm with the source Job Defense Shield has the value of the examples in the "
             "documentation of that program, of Princeton University. Set what differs at your "
             "site in the table [efficiency.norms] of almanac.toml, or in a file (--norms FILE):",
             width) +
         "\n" + name_list(entries, width) +
         fmt::format("  strong_gpus = [{}]\n", fmt::join(strong, ", ")) +
         help_entry("", "GPU types for which there is a smaller one: parts of Slurm's names (ours)",
                    4, width) +
         "\nExample:\n"
         "  [efficiency.norms]\n"
         "  cores_per_gpu = 12\n"
         "  memory_gb_per_gpu = 115\n";
}

}  // namespace

const std::vector<Topic>& topics() {
  static const std::vector<Topic> kTopics{
      {"formats", "Formats of job logs, and how to get one from Slurm", formats_page},
      {"policies", "Scheduling policies and how to combine their parts", policies_page},
      {"serving", "Batching, routing and scaling rules and GPU types of almanac inference",
       serving_page},
      {"norms", "Norms for the use of GPUs, and how to set them", norms_page},
      {"config", "Keys of almanac.toml, and where it is read from", config_page},
      {"environment", "Environment variables", environment_page},
      {"exit-status", "Exit statuses", exit_status_page},
  };
  return kTopics;
}

const std::vector<Meaning>& exit_statuses() {
  static const std::vector<Meaning> kMeanings{
      {kDone, "Success"},
      {kCheckFailed, "A check failed, or a comparison found a difference"},
      {kUsage, "The command line is wrong"},
      {kBadData, "A file has invalid content"},
      {kNoInput, "A file, job or name does not exist"},
      {kUnavailable, "A service, or something that a command needs, is not available"},
      {kInternal, "A bug in almanac"},
      {kCannotWrite, "A file, a directory or standard output cannot be written"},
      {kInterrupted, "Interrupted; files written so far are marked as incomplete"},
  };
  return kMeanings;
}

const std::vector<Variable>& variables() {
  static const std::vector<Variable> kVariables{
      {"ALMANAC_CONFIG", "Configuration file, as --config (almanac help config)"},
      {"ALMANAC_SOCKET", "Unix socket of the service"},
      {"ALMANAC_URL", "URL of the service, if ALMANAC_SOCKET is not set"},
      {"ALMANAC_TOKEN", "Token for that URL (almanac token create)"},
      {"ALMANAC_CA", "PEM file of the authority that certifies the URL"},
      {"COLUMNS", "Width of tables and help; by default the terminal's"},
      {"NO_COLOR", "If set, nothing is bold or colored"},
      {"CUDA_VISIBLE_DEVICES", "GPUs that almanac profile may use"},
      {"SHELL", "Program that almanac submit --pty runs by default"},
      {"KUBECONFIG", "Files that say where the API server of Kubernetes is, separated by colons"},
      {"SLURM_CONF", "Configuration of the Slurm cluster to connect to"},
      {"SLURM_JWT", "Token for slurmrestd over HTTP"},
      {"TMPDIR", "Directory for temporary files"},
      {"TZ", "Time zone of this user's times"},
      {"TZDIR", "Directory of the time zone database"},
      {"XDG_CONFIG_HOME", "Directory of your almanac.toml; by default ~/.config"},
      {"XDG_STATE_HOME", "Directory of the state of your own service; by default ~/.local/state"},
      {"ALMANAC_SHEPHERD", "Path of almanac-shepherd, if it is not next to almanac"},
      {"ALMANAC_SLURM_GATEWAY", "Path of almanac-slurm-gateway, if it is not next to almanac"},
  };
  return kVariables;
}

}  // namespace almanac::cli
