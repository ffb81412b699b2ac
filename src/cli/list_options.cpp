// SPDX-License-Identifier: Apache-2.0
#include "cli/list_options.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/progress.h"

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
  const bool has_wide = std::find(forms.begin(), forms.end(), "wide") != forms.end();
  command
      .add_option("-o,--output", output,
                  fmt::format("How to print: {}{}", fmt::join(forms, ", "),
                              has_wide ? "; wide shows all columns, table those that fit" : ""))
      ->type_name("FORM")
      ->check(CLI::IsMember(std::move(forms)))
      ->capture_default_str();
  command.add_option("--fields", fields, "Print these fields only, named as in CSV")
      ->type_name("NAME,...")
      ->delimiter(',');
  command.add_option("--sort", sort, "Sort rows by this field; -FIELD sorts in descending order")
      ->type_name("FIELD");
  command.add_flag("--no-header", no_header, "Print rows without a header or explanations");
}

Result<int> ListOptions::print(figure::Listing rows, std::string_view explanation) const {
  if (!sort.empty()) {
    if (const auto sorted = rows.sort(sort); !sorted) return tl::unexpected(sorted.error());
  }
  if (!fields.empty()) {
    if (const auto chosen = rows.choose(fields); !chosen) return tl::unexpected(chosen.error());
  }
  if (output == "json") {
    fmt::print("{}", rows.json());
  } else if (output == "csv") {
    const auto written = rows.write_csv(table::OutputFile::standard_output(), !no_header);
    if (!written) return tl::unexpected(written.error());
  } else {
    figure::TableForm form = table_form();
    form.wide = output == "wide";
    form.header = !no_header;
    fmt::print("{}{}", rows.table(form), explains() ? explanation : "");
  }
  return kDone;
}

void ListOptions::on(Program& program, CLI::App& command, std::function<Result<int>()> list) {
  command.add_flag("--watch", watch, "Print again every 2 s until Ctrl-C; requires a terminal");
  program.on(command, [this, list = std::move(list)]() -> Result<int> {
    if (!watch) return list();
    if (output == "csv" || output == "json") {
      return fail(Code::usage, "--watch shows tables; leave out -o " + output);
    }
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) {
      return fail(Code::usage, "--watch requires a terminal", {},
                  "leave it out where the output goes to a file or a pipe");
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
  std::size_t columns = 0;
  if (const char* const told = std::getenv("COLUMNS")) {
    std::from_chars(told, told + std::string_view(told).size(), columns);
  } else if (winsize size{}; ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    columns = size.ws_col;
  }
  if (columns > 0) form.width = columns;
  return form;
}

}  // namespace almanac::cli
