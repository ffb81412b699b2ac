// SPDX-License-Identifier: Apache-2.0
#include "cli/list_options.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/option_group.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/value_check.h"

namespace almanac::cli {
namespace {

constexpr auto kWatchPause = std::chrono::seconds(2);

/// What `list` prints on standard output, together with its result.
std::pair<std::string, Result<int>> captured(const std::function<Result<int>()>& list) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const terminal = std::exchange(stdout, ::open_memstream(&text, &size));
  Result<int> status = list();
  std::fclose(std::exchange(stdout, terminal));
  const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
  return {std::string(text, size), std::move(status)};
}

/// Clears the terminal and prints as many lines as it has.
void draw(std::string_view text, std::size_t lines) {
  std::size_t end = 0;
  for (; lines > 0 && end < text.size(); --lines)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  fmt::print("\x1b[H\x1b[2J{}", text.substr(0, end));
  std::fflush(stdout);
}

}  // namespace

void ListOptions::add_to(CLI::App& command, std::vector<std::string> forms) {
  output = forms.front();
  const InGroup group(command, Group::output);
  command.add_option("-o,--output", output, "Output format")
      ->type_name("FORM")
      ->check(one_of(std::move(forms)))
      ->capture_default_str();
  command.add_option("--fields", fields, "Columns to print, by their CSV names")
      ->type_name("NAME,...")
      ->delimiter(',');
  command.add_option("--sort", sort, "Column to sort by; -NAME sorts in descending order")
      ->type_name("NAME");
  command.add_flag("--no-header", no_header, "Print rows only");
}

Result<void> ListOptions::arrange(figure::Listing& rows) const {
  if (!sort.empty()) {
    if (auto sorted = rows.sort(sort); !sorted) return sorted;
  }
  return fields.empty() ? Result<void>() : rows.choose(fields);
}

Result<void> ListOptions::check(figure::Listing columns) const { return arrange(columns); }

Result<int> ListOptions::print(figure::Listing rows, std::string_view explanation) const {
  if (const auto arranged = arrange(rows); !arranged) return tl::unexpected(arranged.error());
  if (output == "json") {
    fmt::print("{}", rows.json());
  } else if (output == "csv") {
    const auto written = rows.write_csv(table::OutputFile::standard_output(), !no_header);
    if (!written) return tl::unexpected(written.error());
  } else {
    figure::TableForm form = table_form();
    form.wide = output == "wide";
    form.header = !no_header;
    fmt::print("{}", rows.table(form));
    if (explains()) fmt::print("{}{}", rows.shortening(form), fitted_to_terminal(explanation));
  }
  return kDone;
}

void ListOptions::on(Program& program, CLI::App& command, std::function<Result<int>()> list) {
  const InGroup group(command, Group::output);
  command.add_flag("--watch", watch, "Refresh every 2 s until Ctrl-C (on a terminal)");
  program.on(command, [this, list = std::move(list)]() -> Result<int> {
    if (!watch) return list();
    if (output == "csv" || output == "json") {
      return fail(Code::usage, "--watch only shows tables; leave out -o " + output);
    }
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) {
      return fail(Code::usage, "--watch requires a terminal", {},
                  "leave out --watch if the output goes to a file or a pipe");
    }
    for (;; std::this_thread::sleep_for(kWatchPause)) {
      const auto [text, status] = captured(list);
      // Wrong options stay wrong; a service that does not answer may come back.
      if (!status && status.error().code != Code::unavailable) {
        return tl::unexpected(status.error());
      }
      ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
      draw(status ? text : to_string(status.error()) + "\n",
           static_cast<std::size_t>(std::max(2, int{size.ws_row}) - 1));
    }
  });
}

figure::TableForm table_form() {
  figure::TableForm form{.colour = colour_on_stdout()};
  const std::size_t columns = terminal_columns();
  if (columns > 0) form.width = columns;
  return form;
}

}  // namespace almanac::cli
