// SPDX-License-Identifier: Apache-2.0

/// \file
/// The web page that draws a report document (docs/guide/report.md): one HTML file that never uses
/// a network. Built from web/ and part of the program.
#pragma once

#include <string>
#include <string_view>

namespace almanac::report {

/// Whether this build has a page. A build without npm, or whose first build had no network, has
/// none.
bool has_page();

/// Message of a command that cannot write a page.
inline constexpr std::string_view kNoPage =
    "this build has no report page: web/ could not be built (install nodejs and npm, and build "
    "again with a network)";

/// Returns the whole HTML of a report, about 0.8 MB plus the document. `document_json` must be one
/// JSON object in UTF-8; it is escaped for HTML but not checked. Requires has_page().
std::string page(std::string_view document_json);

}  // namespace almanac::report
