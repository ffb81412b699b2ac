// SPDX-License-Identifier: Apache-2.0
#include "report/document_directory.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/page.h"
#include "table/output_file.h"
#include "table/stream.h"

namespace almanac::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPage = "report.html";

/// Removes the files that the contents in `list` name, the list last.
Result<void> remove_report(const fs::path& folder, const fs::path& list) {
  const Result<std::string> text = table::read_file(list.string());
  if (!text) return tl::unexpected(text.error());
  const auto contents = nlohmann::json::parse(*text, nullptr, false);
  std::vector<fs::path> files;
  if (contents.is_object() && contents.contains("sections")) {
    for (const auto& section : contents["sections"]) {
      for (const auto& figure : section.at("figures")) {
        const std::string id = figure.at("id");
        files.push_back(folder / (id + ".csv"));
        files.push_back(folder / (id + ".json"));
      }
    }
  }
  files.push_back(folder / kPage);
  files.push_back(list);
  for (const fs::path& file : files) {
    std::error_code error;
    fs::remove(file, error);
    if (error) return fail(Code::unavailable, error.message(), {.file = file.string()});
  }
  return {};
}

}  // namespace

Result<void> open_document_directory(const std::string& folder, const std::string& kind) {
  std::error_code error;
  const fs::path list = fs::path(folder) / (kind + ".json");
  if (fs::exists(list, error)) return remove_report(folder, list);
  const bool fresh = !fs::exists(folder, error) ||
                     (fs::is_directory(folder, error) && fs::is_empty(folder, error));
  if (!fresh) {
    return fail(Code::conflict, "the folder is not empty and holds no earlier report",
                {.file = folder}, "name another with --out");
  }
  fs::create_directories(folder, error);
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot create the folder: {}", error.message()),
                {.file = folder});
  }
  return {};
}

Result<void> write_document(const std::string& folder, const figure::Document& document) {
  for (const figure::Section& section : document.sections) {
    for (const figure::Figure& figure : section.figures) {
      if (auto written = figure::write_figure(folder, figure); !written) return written;
    }
  }
  if (auto written = write_page(folder, document); !written) return written;
  return table::write_file((fs::path(folder) / (document.kind + ".json")).string(),
                           figure::contents_json(document));
}

Result<void> write_page(const std::string& folder, const figure::Document& document) {
  if (!has_page()) return {};
  return table::write_file((fs::path(folder) / kPage).string(), page(figure::to_json(document)));
}

}  // namespace almanac::report
