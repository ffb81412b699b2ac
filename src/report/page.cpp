// SPDX-License-Identifier: Apache-2.0

#include "report/page.h"

#include "base/check.h"

extern "C" {
// The first byte of the page and the one after its last, from page.gen.cpp.
extern const char almanac_page_begin[];
extern const char almanac_page_end[];
}

namespace almanac::report {
namespace {

constexpr std::string_view kPlace = "@document@";

std::string_view page_template() {
  return {almanac_page_begin, static_cast<std::size_t>(almanac_page_end - almanac_page_begin)};
}

}  // namespace

bool has_page() { return !page_template().empty(); }

std::string page(std::string_view document_json) {
  const std::string_view whole = page_template();
  const std::size_t place = whole.find(kPlace);
  ALMANAC_CHECK(place != std::string_view::npos, "this build has no page: ask has_page()");
  std::string html;
  html.reserve(whole.size() + document_json.size() + document_json.size() / 64);
  html.append(whole.substr(0, place));
  // In JSON a "<" stands only in texts, where it may be written as a number; in HTML it could end
  // the script that holds the document.
  for (const char letter : document_json) {
    if (letter == '<') {
      html.append("\\u003c");
    } else {
      html.push_back(letter);
    }
  }
  html.append(whole.substr(place + kPlace.size()));
  return html;
}

}  // namespace almanac::report
