// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plays tests/study/scenario/*.study: a small job log, and what figures of it must show. A file is
/// a row of sections, each a line that names it and the lines below:
///
///   trace [FORMAT]        the job log; FORMAT as --format takes it
///   cluster [TEXT]        as --cluster takes it, or TOML in the lines below; without it, inferred
///   gpu_util | cpu_util | mem_util    a utilisation file
///   expect ID [where COLUMN=VALUE ...]   the figure's rows, with the columns that the first line
///                         names; numbers may differ by 1e-9 of their size
///   finding TEXT          some headline has this text
///   says TEXT             some finding has it in headline, detail or advice; `silent TEXT`: none
///   absent ID TEXT        the figure is not drawn, for want of this
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/read.h"
#include "experiment/infer_cluster.h"
#include "study/figures.h"
#include "study/gpu_use.h"
#include "study/host_use.h"
#include "support/temporary_folder.h"
#include "text/number.h"
#include "trace/read.h"

namespace almanac::study {
namespace {

namespace fs = std::filesystem;

struct Section {
  std::vector<std::string> words;
  std::vector<std::string> lines;
  int line = 0;
  std::string text() const {
    std::string all;
    for (const std::string& each : lines) all += each + "\n";
    return all;
  }
  /// The words from `first` on.
  std::string rest(std::size_t first) const {
    std::string all;
    for (std::size_t at = first; at < words.size(); ++at)
      all += (at > first ? " " : "") + words[at];
    return all;
  }
};

std::vector<std::string> split(const std::string& text, char delimiter) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, delimiter);) parts.push_back(part);
  if (text.empty() || text.back() == delimiter) parts.emplace_back();
  return parts;
}

std::vector<Section> sections_of(const fs::path& path) {
  std::vector<Section> sections;
  std::ifstream file(path);
  int number = 0;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    if (line.empty()) {
      inside = false;
    } else if (inside) {
      sections.back().lines.push_back(line);
    } else {
      std::vector<std::string> words = split(line, ' ');
      const std::string& kind = words.front();
      // These say all in their first line.
      inside = !(kind == "cluster" && words.size() > 1) && kind != "finding" && kind != "says" &&
               kind != "silent" && kind != "absent";
      sections.push_back({.words = std::move(words), .lines = {}, .line = number});
    }
  }
  return sections;
}

std::string cell(const figure::Column& column, std::size_t row) {
  if (column.type == figure::Type::text) return column.texts[row];
  const double value = column.numbers[row];
  return std::isnan(value) ? "" : fmt::format("{}", value);
}

bool same(const std::string& wanted, const std::string& found) {
  const auto a = text::parse_decimal(wanted);
  const auto b = text::parse_decimal(found);
  if (!a || !b) return wanted == found;
  return std::abs(*a - *b) <= 1e-9 * std::max(1.0, std::abs(*a));
}

class Player {
 public:
  explicit Player(const fs::path& path) : path_(path), sections_(sections_of(path)) {}

  void play() {
    read();
    if (testing::Test::HasFatalFailure()) return;
    const Study study(*trace_, *cluster_,
                      {.gpu = gpu_ ? &*gpu_ : nullptr, .host = host_ ? &*host_ : nullptr});
    const figure::Document document = draw_all(study);
    for (const Section& section : sections_) {
      SCOPED_TRACE(fmt::format("{}:{}", path_.string(), section.line));
      if (section.words[0] == "expect") expect(document, section);
      if (section.words[0] == "finding") expect_finding(document, section.rest(1));
      if (section.words[0] == "says") expect_says(document, section.rest(1), true);
      if (section.words[0] == "silent") expect_says(document, section.rest(1), false);
      if (section.words[0] == "absent") expect_absent(document, section);
    }
  }

 private:
  const Section* find(const std::string& kind) const {
    for (const Section& section : sections_) {
      if (section.words[0] == kind) return &section;
    }
    return nullptr;
  }

  void read() {
    const Section* const log = find("trace");
    ASSERT_NE(log, nullptr);
    auto trace = trace::read_trace(folder_.write("log", log->text()),
                                   {.format = log->words.size() > 1 ? log->words[1] : "almanac"});
    ASSERT_TRUE(trace) << to_string(trace.error());
    trace_ = std::move(*trace);
    const Section* const given = find("cluster");
    auto cluster = given == nullptr ? experiment::infer_cluster(*trace_)
                   : given->words.size() > 1
                       ? cluster::read_cluster(given->rest(1))
                       : cluster::read_cluster(folder_.write("cluster.toml", given->text()));
    cluster_ = cluster ? std::move(*cluster) : cluster::Cluster{};
    if (const Section* const file = find("gpu_util")) {
      auto use = read_gpu_use(folder_.write("gpu", file->text()), *trace_);
      ASSERT_TRUE(use) << to_string(use.error());
      gpu_ = std::move(*use);
    }
    const Section* const cpu = find("cpu_util");
    const Section* const memory = find("mem_util");
    if (cpu != nullptr || memory != nullptr) {
      auto use = read_host_use(cpu != nullptr ? folder_.write("cpu", cpu->text()) : "",
                               memory != nullptr ? folder_.write("mem", memory->text()) : "");
      ASSERT_TRUE(use) << to_string(use.error());
      host_ = std::move(*use);
    }
  }

  static void expect(const figure::Document& document, const Section& section) {
    const figure::Figure* figure = nullptr;
    for (const figure::Section& part : document.sections) {
      for (const figure::Figure& each : part.figures) {
        if (each.id == section.words[1]) figure = &each;
      }
    }
    ASSERT_NE(figure, nullptr) << "not drawn";
    const std::vector<std::string> header = split(section.lines.front(), ',');
    std::vector<std::string> found;
    for (std::size_t row = 0; row < figure->rows(); ++row) {
      bool wanted = true;
      for (std::size_t at = 3; at < section.words.size(); ++at) {
        const auto pair = split(section.words[at], '=');
        wanted = wanted && same(pair[1], cell((*figure)[pair[0]], row));
      }
      if (!wanted) continue;
      std::string line;
      for (const std::string& name : header) {
        line += (line.empty() ? "" : ",") + cell((*figure)[name], row);
      }
      found.push_back(line);
    }
    const std::size_t rows = section.lines.size() - 1;
    bool equal = rows == found.size();
    for (std::size_t row = 0; equal && row < rows; ++row) {
      const auto a = split(section.lines[row + 1], ',');
      const auto b = split(found[row], ',');
      equal = a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
    }
    std::string shown = section.lines.front() + "\n";
    for (const std::string& each : found) shown += each + "\n";
    EXPECT_TRUE(equal) << figure->id << " shows\n" << shown;
  }

  static void expect_finding(const figure::Document& document, const std::string& text) {
    std::string all;
    for (const figure::Finding& finding : document.findings) {
      if (finding.headline.find(text) != std::string::npos) return;
      all += finding.headline + "\n";
    }
    ADD_FAILURE() << "no finding says \"" << text << "\":\n" << all;
  }

  static void expect_says(const figure::Document& document, const std::string& text, bool wanted) {
    std::string all;
    for (const figure::Finding& finding : document.findings) {
      all += finding.headline + " " + finding.detail + " " + finding.advice + "\n";
    }
    EXPECT_EQ(all.find(text) != std::string::npos, wanted) << "\"" << text << "\" in:\n" << all;
  }

  static void expect_absent(const figure::Document& document, const Section& section) {
    for (const figure::Absent& each : document.absent) {
      if (each.id != section.words[1]) continue;
      EXPECT_NE(each.needs.find(section.rest(2)), std::string::npos) << each.needs;
      return;
    }
    ADD_FAILURE() << section.words[1] << " is not absent";
  }

  fs::path path_;
  std::vector<Section> sections_;
  TemporaryFolder folder_;
  std::optional<trace::Trace> trace_;
  std::optional<cluster::Cluster> cluster_;
  std::optional<GpuUse> gpu_;
  std::optional<HostUse> host_;
};

std::vector<fs::path> scenarios() {
  std::vector<fs::path> paths;
  const char* const root = std::getenv("ALMANAC_SOURCE_DIR");
  for (const auto& entry :
       fs::directory_iterator(fs::path(root == nullptr ? "." : root) / "tests/study/scenario")) {
    if (entry.path().extension() == ".study") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class StudyScenario : public testing::TestWithParam<fs::path> {};

TEST_P(StudyScenario, ShowsWhatItSays) { Player(GetParam()).play(); }

INSTANTIATE_TEST_SUITE_P(Files, StudyScenario, testing::ValuesIn(scenarios()),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace almanac::study
