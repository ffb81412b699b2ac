// SPDX-License-Identifier: Apache-2.0
#include "site/read.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/conf_file.h"
#include "site/kinds.h"
#include "site/read_accounts.h"
#include "site/read_config.h"
#include "site/read_json.h"
#include "site/read_machines.h"
#include "site/records.h"
#include "table/stream.h"
#include "text/human.h"

namespace almanac::site {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHead = 65'536;
constexpr const char* kCollect = "almanac slurm snapshot --out DIR collects the files of a site";

struct File {
  std::string path{};
  std::string text{};
};

/// Whether `almanac slurm snapshot` writes a file of this name. It is empty if the command failed.
bool is_of_snapshot(const fs::path& path) {
  static const std::set<std::string> kNames{"config.txt",       "nodes.txt",    "partitions.txt",
                                            "reservations.txt", "licenses.txt", "topology.txt",
                                            "tres.txt",         "qos.txt",      "associations.txt",
                                            "shares.txt",       "events.txt",   "sdiag.txt"};
  const fs::path end = path.extension();
  const bool is_packed = end == ".gz" || end == ".zst";
  const std::string name = (is_packed ? path.stem() : path.filename()).string();
  return kNames.contains(name);
}

class SiteReader {
 public:
  explicit SiteReader(bool needs_nodes) : needs_nodes_(needs_nodes) {}

  Result<Site> read_folder(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code trouble;
    for (const auto& each : fs::directory_iterator(folder, trouble)) {
      std::error_code ignored;  // of a link that leads nowhere
      if (each.is_regular_file(ignored)) paths.push_back(each.path());
    }
    if (trouble) {
      return fail(Code::not_found, fmt::format("the folder cannot be read: {}", trouble.message()),
                  {folder.string()}, kCollect);
    }
    std::sort(paths.begin(), paths.end());
    std::size_t passed_over = 0;
    for (const fs::path& path : paths) {
      auto taken = take(path);
      if (!taken) return tl::unexpected(taken.error());
      if (*taken) continue;
      ++passed_over;
      if (!is_of_snapshot(path)) continue;
      std::error_code ignored;
      if (fs::file_size(path, ignored) > 0) {
        return fail(Code::invalid, "the file is not output of the command that it is named for",
                    {path.string(), 1}, kCollect);
      }
      if (!empty_.empty()) empty_ += ", ";
      empty_ += path.filename().string();
    }
    if (passed_over > 0) {
      site_.unknown.push_back(
          fmt::format("not read: {} of {}", text::counted(passed_over, "file"), folder.string()));
    }
    return make(folder.string());
  }

  Result<Site> read_file(const fs::path& path) {
    auto taken = take(path);
    if (!taken) return tl::unexpected(taken.error());
    if (!*taken) taken = take_conf(path);
    if (!taken) return tl::unexpected(taken.error());
    if (!*taken) {
      return fail(Code::invalid, "the file is neither slurm.conf nor output of Slurm's commands",
                  {path.string()}, kCollect);
    }
    if (files_.count(Kind::slurm_conf) > 0) {
      for (const char* const name : {"gres.conf", "topology.conf"}) {
        const fs::path beside = path.parent_path() / name;
        std::error_code ignored;
        if (path.filename() == name || !fs::is_regular_file(beside, ignored)) continue;
        if (auto other = take(beside); !other) return tl::unexpected(other.error());
      }
    }
    return make(path.string());
  }

 private:
  /// Returns whether the file is one of a site's.
  Result<bool> take(const fs::path& path) {
    const std::string name = path.filename().string();
    // A file of another kind may be anything, even of no text.
    const auto head = table::read_head(path.string(), kHead);
    if (!head) return false;
    std::string_view plain = name;
    for (const std::string_view suffix : {".gz", ".zst"}) {
      if (plain.ends_with(suffix)) plain.remove_suffix(suffix.size());
    }
    const Kind kind = kind_of(plain, *head);
    if (kind == Kind::none) return false;
    if (kind == Kind::nothing) return true;
    auto text = table::read_text_file(path.string());
    if (!text) return tl::unexpected(text.error());
    files_[kind].push_back({path.string(), std::move(*text)});
    return true;
  }

  /// Takes a file of any name as slurm.conf, if it has such lines.
  Result<bool> take_conf(const fs::path& path) {
    auto text = table::read_text_file(path.string());
    if (!text) return tl::unexpected(text.error());
    if (!is_conf_text(*text)) return false;
    files_[Kind::slurm_conf].push_back({path.string(), std::move(*text)});
    return true;
  }

  Result<std::vector<Record>> conf_lines(Kind kind) const {
    const auto found = files_.find(kind);
    if (found == files_.end()) return std::vector<Record>{};
    return cluster::read_conf_file(found->second.front().path, found->second.front().text);
  }

  /// The rows of all tables of `kind`, one file after the other.
  Result<std::vector<std::vector<Record>>> tables(Kind kind) const {
    std::vector<std::vector<Record>> made;
    const auto found = files_.find(kind);
    if (found == files_.end()) return made;
    for (const File& file : found->second) {
      auto rows = table_rows(file.path, file.text);
      if (!rows) return tl::unexpected(rows.error());
      made.push_back(std::move(*rows));
    }
    return made;
  }

  Result<std::vector<Record>> rows(Kind kind) const {
    auto all = tables(kind);
    if (!all) return tl::unexpected(all.error());
    std::vector<Record> made;
    for (std::vector<Record>& each : *all)
      std::move(each.begin(), each.end(), std::back_inserter(made));
    return made;
  }

  /// The records of all files of `kind`, text or JSON.
  Result<std::vector<Record>> records(Kind kind, const char* key) const {
    std::vector<Record> made;
    const auto found = files_.find(kind);
    if (found == files_.end()) return made;
    for (const File& file : found->second) {
      if (file.text.find_first_not_of(" \t\r\n") == file.text.find('{')) {
        auto own = json_records(file.path, file.text, kind);
        if (!own) return tl::unexpected(own.error());
        std::move(own->begin(), own->end(), std::back_inserter(made));
      } else {
        std::vector<Record> own = scontrol_records(file.path, file.text, key);
        std::move(own.begin(), own.end(), std::back_inserter(made));
      }
    }
    return made;
  }

  Result<Site> make(const std::string& path) {
    const auto conf = conf_lines(Kind::slurm_conf);
    if (!conf) return tl::unexpected(conf.error());
    const auto gres = conf_lines(Kind::gres_conf);
    if (!gres) return tl::unexpected(gres.error());
    if (auto done = read_settings(*conf); !done) return tl::unexpected(done.error());
    if (auto done = read_conf_machines(*conf, *gres, site_); !done) {
      return tl::unexpected(done.error());
    }
    if (auto done = read_machines(); !done) return tl::unexpected(done.error());
    if (auto done = read_accounts(); !done) return tl::unexpected(done.error());
    if (site_.nodes.empty() && needs_nodes_) {
      return fail(Code::invalid,
                  fmt::format("no file names the nodes (slurm.conf, or scontrol show node){}",
                              empty_.empty() ? "" : "; empty: " + empty_),
                  {path}, kCollect);
    }
    return std::move(site_);
  }

  void note_repeated(const File& file) {
    constexpr std::string_view kBegin = "Configuration data as of";
    if (file.text.find(kBegin) == file.text.rfind(kBegin)) return;
    site_.unknown.push_back(
        fmt::format("{}: more than one output of scontrol show config; the last value of each "
                    "setting counts",
                    file.path));
  }

  Result<void> read_settings(const std::vector<Record>& conf) {
    const auto tres = rows(Kind::tres);
    if (!tres) return tl::unexpected(tres.error());
    const auto shown = files_.find(Kind::config);
    const bool is_shown = shown != files_.end();
    Record settings = config_record(conf);
    if (is_shown) {
      const File& file = shown->second.front();
      note_repeated(file);
      for (std::size_t at = 1; at < shown->second.size(); ++at) {
        site_.unknown.push_back(
            fmt::format("{}: a second output of scontrol show config, which is not read; {} counts",
                        shown->second[at].path, file.path));
      }
      Record own = config_record(file.path, file.text);
      // The command shows each setting; the file has a few that it does not (JobSubmitPlugins=...).
      own.fields.insert(settings.fields.begin(), settings.fields.end());
      own.places.insert(settings.places.begin(), settings.places.end());
      own.spelled.insert(settings.spelled.begin(), settings.spelled.end());
      settings = std::move(own);
    } else if (conf.empty()) {
      site_.assumed.emplace_back(
          "no file has the settings of the controller (scontrol show config, or slurm.conf): "
          "assumed Slurm's defaults");
    }
    return read_config(settings, *tres, site_);
  }

  Result<void> read_machines() {
    const auto nodes = records(Kind::nodes, "NodeName");
    if (!nodes) return tl::unexpected(nodes.error());
    if (auto done = read_nodes(*nodes, site_); !done) return done;
    const auto partitions = records(Kind::partitions, "PartitionName");
    if (!partitions) return tl::unexpected(partitions.error());
    if (!partitions->empty()) {
      if (auto done = read_partitions(*partitions, site_); !done) return done;
    }
    if (site_.partitions.empty()) {
      site_.assumed.emplace_back(
          "no file names the partitions (slurm.conf, or scontrol show partition): assumed one of "
          "all nodes");
      Partition all{.name = "all", .is_default = true};
      for (std::size_t at = 0; at < site_.nodes.size(); ++at) {
        all.nodes.push_back(static_cast<NodeIndex>(at));
      }
      site_.partitions.push_back(std::move(all));
    }
    if (auto done = read_switches(); !done) return done;
    const auto reservations = records(Kind::reservations, "ReservationName");
    if (!reservations) return tl::unexpected(reservations.error());
    if (auto done = read_reservations(*reservations, site_); !done) return done;
    const auto licenses = records(Kind::licenses, "LicenseName");
    if (!licenses) return tl::unexpected(licenses.error());
    if (!licenses->empty()) {
      if (auto done = read_licenses(*licenses, site_); !done) return done;
    }
    const auto events = rows(Kind::events);
    if (!events) return tl::unexpected(events.error());
    return read_events(*events, site_);
  }

  Result<void> read_switches() {
    const auto lines = conf_lines(Kind::topology_conf);
    if (!lines) return tl::unexpected(lines.error());
    if (!lines->empty()) return read_topology(*lines, site_);
    auto shown = records(Kind::topology, "SwitchName");
    if (shown && shown->empty()) shown = records(Kind::topology, "BlockName");
    if (!shown) return tl::unexpected(shown.error());
    if (shown->empty() && site_.config.topology.type != TopologyType::flat) {
      site_.assumed.emplace_back(
          "no file has the switches (topology.conf, or scontrol show topology): assumed none");
    }
    return read_topology(*shown, site_);
  }

  Result<void> read_accounts() {
    const auto qos = rows(Kind::qos);
    if (!qos) return tl::unexpected(qos.error());
    if (auto done = read_qos(*qos, site_); !done) return done;
    auto associations = tables(Kind::associations);
    if (!associations) return tl::unexpected(associations.error());
    auto shares = tables(Kind::shares);
    if (!shares) return tl::unexpected(shares.error());
    const bool has_usage = !shares->empty();
    // Most columns first: the values of earlier files count.
    std::move(shares->begin(), shares->end(), std::back_inserter(*associations));
    if (auto done = read_associations(*associations, site_); !done) return done;
    if (site_.qos.empty()) {
      site_.assumed.emplace_back("no file has the QOS (sacctmgr -P show qos): assumed none");
    }
    if (site_.associations.empty()) {
      site_.assumed.emplace_back(
          "no file has the associations (sacctmgr -P show assoc tree): assumed none");
    } else if (!has_usage && site_.config.priority.weight_fair_share > 0) {
      site_.assumed.emplace_back("no file has the usage (sshare -alP): assumed none");
    }
    const auto sdiag = files_.find(Kind::diagnostics);
    if (sdiag == files_.end()) return {};
    const File& file = sdiag->second.front();
    if (auto done = read_sdiag(file.path, file.text, site_); !done) return done;
    // sshare does not say when it ran; sdiag, of the same snapshot, does.
    if (has_usage) site_.usage_at = site_.diagnostics->until;
    return {};
  }

  bool needs_nodes_;
  std::string empty_;  // names of empty files
  Site site_;
  std::map<Kind, std::vector<File>> files_;
};

}  // namespace

Result<Site> read_site(const std::string& path, bool needs_nodes) {
  std::error_code ignored;
  SiteReader reader(needs_nodes);
  return fs::is_directory(path, ignored) ? reader.read_folder(path) : reader.read_file(path);
}

bool is_site(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return true;
  const auto head = table::read_head(path, kHead);
  if (!head) return false;
  return kind_of(fs::path(path).filename().string(), *head) != Kind::none || is_conf_text(*head);
}

}  // namespace almanac::site
