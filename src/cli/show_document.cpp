// SPDX-License-Identifier: Apache-2.0
#include "cli/show_document.h"

#include <cstdio>

#include <fmt/format.h>

#include "cli/program.h"
#include "cli/progress.h"
#include "report/page.h"

namespace almanac::cli {
namespace {

constexpr std::size_t kWidth = 96;

/// `text` in lines of kWidth, each after `indent`.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string lines;
  std::size_t used = kWidth;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (used + 1 + word.size() > kWidth) {
      lines += fmt::format("{}{}{}", lines.empty() ? "" : "\n", indent, word);
      used = indent.size() + word.size();
    } else {
      lines += fmt::format(" {}", word);
      used += 1 + word.size();
    }
  }
  return lines + "\n";
}

}  // namespace

void show_document(const figure::Document& document, const std::string& format,
                   const std::string& folder) {
  if (format == "json") {
    fmt::print("{}", figure::contents_json(document));
  } else {
    fmt::print("{}: {}\n", document.title, document.subtitle);
    for (const auto& [label, value] : document.facts) {
      const bool one = value == "1" && label.ends_with('s');
      fmt::print("  {:>12} {}\n", value, one ? label.substr(0, label.size() - 1) : label);
    }
    const bool colour = colour_on_stdout();
    for (const figure::Finding& finding : document.findings) {
      const std::string headline = wrapped(finding.headline, "");
      fmt::print("\n{}{}{}", colour ? "\x1b[1m" : "", headline, colour ? "\x1b[0m" : "");
      if (!finding.detail.empty()) fmt::print("{}", wrapped(finding.detail, "  "));
      if (!finding.advice.empty()) fmt::print("{}", wrapped("-> " + finding.advice, "  "));
    }
    std::string needs;
    for (const figure::Absent& absent : document.absent) {
      needs += fmt::format("  {:22} {}\n", absent.id, absent.needs);
    }
    if (!needs.empty())
      fmt::print("\nFigures that this log does not support, and what they need:\n{}", needs);
  }
  if (!folder.empty()) note_report(folder);
}

void note_report(const std::string& folder) {
  if (report::has_page()) {
    note(fmt::format("wrote the report to {}/report.html, with its figures as CSV and JSON",
                     folder));
  } else {
    note(fmt::format("wrote the figures to {} as CSV and JSON", folder));
    note(std::string(report::kNoPage));
  }
}

}  // namespace almanac::cli
