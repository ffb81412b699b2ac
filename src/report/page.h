// SPDX-License-Identifier: Apache-2.0

/// \file
/// The web page that draws a report document (docs/guide/report.md): one HTML file that asks
/// nothing of any network. It is built from web/ and is part of the program.
#pragma once

#include <string>
#include <string_view>

namespace almanac::report {

/// Whether this build has a page: one without npm, or without a network for its first build, has
/// none.
bool has_page();

/// What a command says then instead of writing a page.
inline constexpr std::string_view kNoPage =
    "this build has no report page: web/ could not be built (install nodejs and npm, and build "
    "again with a network)";

/// The whole HTML of a report. `document_json` is one JSON object in UTF-8; it is not looked at,
/// only made safe to stand inside HTML. Needs has_page(). About 0.8 MB and the document.
std::string page(std::string_view document_json);

}  // namespace almanac::report
