// SPDX-License-Identifier: Apache-2.0
#include "figure/rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "figure/json.h"
#include "figure/rows_json.h"
#include "table/csv_writer.h"
#include "text/datetime.h"
#include "text/duration.h"
#include "text/nearest.h"
#include "text/wrap.h"

namespace almanac::figure {
namespace {

constexpr std::string_view kBetween = "  ";

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

bool starts_letter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// Letters, not bytes: in UTF-8 each first byte counts.
std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_letter));
}

/// The first `most` letters.
std::string_view first_letters(std::string_view text, std::size_t most) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (starts_letter(text[at]) && most-- == 0) break;
  }
  return text.substr(0, at);
}

std::string short_number(double value) {
  constexpr double kWhole = 1e5, kTooLong = 1e15;
  const double size = std::abs(value);
  if (size >= kWhole && size < kTooLong) return fmt::format("{:.0f}", value);
  return fmt::format("{:.5g}", value);
}

/// Times count as text: tables show them as dates.
bool is_number(const Cell& cell) {
  const auto& value = cell.value();
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value) ||
         std::holds_alternative<Duration>(value);
}

bool is_nothing(const Cell& cell) { return std::holds_alternative<std::monostate>(cell.value()); }

bool stands_right(const Listing::Column& column) {
  if (column.is_right) return *column.is_right;
  return !column.cells.empty() &&
         std::all_of(column.cells.begin(), column.cells.end(),
                     [](const Cell& cell) { return is_number(cell) || is_nothing(cell); });
}

/// Returns the number of a value that is not text.
double number_of(const Cell::Value& value) {
  return std::visit(
      Overloaded{[](std::monostate) { return 0.0; }, [](const std::string&) { return 0.0; },
                 [](Time at) { return seconds(at); },
                 [](Duration length) { return seconds(length); },
                 [](auto number) { return static_cast<double>(number); }},
      value);
}

bool is_less(const Cell::Value& a, const Cell::Value& b) {
  const auto* const text = std::get_if<std::string>(&a);
  const auto* const other = std::get_if<std::string>(&b);
  // Numbers within text count as numbers: job 10_2 follows job 9.
  if (text != nullptr && other != nullptr) return ::strverscmp(text->c_str(), other->c_str()) < 0;
  if ((text == nullptr) != (other == nullptr)) return text == nullptr;
  return number_of(a) < number_of(b);
}

void write_cell(table::CsvWriter& csv, const Cell& cell, int digits) {
  std::visit(
      Overloaded{[&](std::monostate) { csv.missing(); },
                 [&](bool value) { csv.text(value ? "true" : "false"); },
                 [&](std::int64_t value) { csv.whole(value); },
                 [&](double value) {
                   if (digits > 0) {
                     csv.text(fmt::format("{:.{}g}", value, digits));
                   } else {
                     csv.decimal(value);
                   }
                 },
                 [&](const std::string& value) { csv.text(value); }, [&](Time at) { csv.time(at); },
                 [&](Duration length) { csv.duration(length); }},
      cell.value());
}

}  // namespace

std::string Cell::text() const {
  if (shown_) return *shown_;
  return std::visit(Overloaded{[](std::monostate) { return std::string("-"); },
                               [](bool value) { return std::string(value ? "yes" : "no"); },
                               [](std::int64_t value) { return std::to_string(value); },
                               [](double value) { return short_number(value); },
                               [](const std::string& value) { return value; },
                               [](Time at) { return text::format_datetime(at); },
                               [](Duration length) { return text::format_duration(length); }},
                    value_);
}

std::string Decimals::operator()(double value) const {
  if (std::isnan(value)) return "-";
  std::string text = fmt::format("{:.{}f}", value, digits);
  const bool is_zero = text.find_first_of("123456789") == std::string::npos && std::isfinite(value);
  if (is_zero && text.front() == '-') text.erase(0, 1);  // no -0.0
  return unit.empty() ? text : fmt::format("{} {}", text, unit);
}

std::string Percents::operator()(double share) const {
  return Decimals{.digits = digits, .unit = "%"}(100 * share);
}

Listing::Column& Listing::column(Tier tier, std::string name, std::string label) {
  return columns_.emplace_back(
      Column{.name = std::move(name), .label = std::move(label), .tier = tier});
}

Result<std::size_t> Listing::find(const std::string& field) const {
  std::vector<std::string> known;
  for (const Column& each : columns_) {
    if (each.name == field) return static_cast<std::size_t>(&each - columns_.data());
    if (std::find(known.begin(), known.end(), each.name) == known.end()) known.push_back(each.name);
  }
  return fail(
      Code::usage, fmt::format("there is no field \"{}\"", field), {},
      fmt::format("{}; -o csv without --fields prints all", text::meant_or_known(field, known)));
}

Result<void> Listing::sort(const std::string& field) {
  const bool descends = field.starts_with('-');
  const auto at = find(descends ? field.substr(1) : field);
  if (!at) return tl::unexpected(at.error());
  const std::vector<Cell>& by = columns_[*at].cells;
  std::vector<std::size_t> order(by.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (is_nothing(by[a]) || is_nothing(by[b])) return !is_nothing(by[a]) && is_nothing(by[b]);
    return descends ? is_less(by[b].value(), by[a].value()) : is_less(by[a].value(), by[b].value());
  });
  for (Column& column : columns_) {
    std::vector<Cell> sorted;
    sorted.reserve(order.size());
    for (const std::size_t row : order) sorted.push_back(std::move(column.cells[row]));
    column.cells = std::move(sorted);
  }
  return {};
}

Result<void> Listing::choose(const std::vector<std::string>& fields) {
  std::vector<Column> chosen;
  for (const std::string& field : fields) {
    const auto at = find(field);
    if (!at) return tl::unexpected(at.error());
    chosen.push_back(columns_[*at]);
    chosen.back().is_file_column = true;
  }
  columns_ = std::move(chosen);
  is_chosen_ = true;
  return {};
}

void Listing::cut(std::size_t most) {
  for (Column& column : columns_) {
    if (column.cells.size() > most) column.cells.resize(most);
  }
}

std::vector<const Listing::Column*> Listing::shown(bool wide) const {
  const Tier last = is_chosen_ ? Tier::data : wide ? Tier::wide : Tier::detail;
  std::vector<const Column*> made;
  for (const Column& each : columns_) {
    if (each.tier <= last) made.push_back(&each);
  }
  return made;
}

/// A column of a table: its cells as text, and how wide it is.
struct Listing::Shown {
  const Column* column;
  std::vector<std::string> texts;
  std::size_t width;
  bool right;

  bool cut(std::size_t most);
};

struct Listing::Layout {
  std::vector<Shown> shown{};
  std::vector<std::string> left_out{};  // labels of columns for which there is no room
  bool is_cut = false;                  // some line is longer than the table may be

  std::size_t line() const {
    std::size_t width = 0;
    for (const Shown& each : shown) width += each.width + (width > 0 ? kBetween.size() : 0);
    return width;
  }
};

/// Cuts the cells of a column that are longer than `most` letters. Returns whether any was.
bool Listing::Shown::cut(std::size_t most) {
  constexpr std::string_view kCut = "...";
  bool is_cut = false;
  for (std::string& text : texts) {
    if (letters(text) <= most) continue;
    text = fmt::format("{}{}", first_letters(text, most - kCut.size()), kCut);
    is_cut = true;
  }
  width = std::min(width, std::max(most, letters(column->label)));
  return is_cut;
}

Listing::Layout Listing::lay_out(const TableForm& form) const {
  Layout made;
  std::vector<Shown>& all = made.shown;
  const std::vector<const Column*> wanted = shown(form.wide);
  for (const Column* const column : wanted) {
    Shown each{column, {}, form.header ? letters(column->label) : 0, stands_right(*column)};
    each.texts.reserve(size());
    for (const Cell& cell : column->cells) {
      each.texts.push_back(cell.text());
      each.width = std::max(each.width, letters(each.texts.back()));
    }
    all.push_back(std::move(each));
  }
  if (form.wide) return made;
  constexpr std::size_t kName = 20;
  // One long name must not take the room of all columns.
  if (made.line() > form.width) made.is_cut = all.front().cut(std::max(kName, form.width / 2));
  for (const Tier tier : {Tier::detail, Tier::usual}) {
    for (std::size_t at = all.size(); at-- > 0 && !is_chosen_ && made.line() > form.width;) {
      if (all[at].column->tier != tier) continue;
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  for (const Column* const column : wanted) {
    const bool has_room = std::any_of(all.begin(), all.end(),
                                      [&](const Shown& each) { return each.column == column; });
    if (!has_room) made.left_out.push_back(column->label);
  }
  made.is_cut = made.is_cut || made.line() > form.width;
  return made;
}

std::string Listing::shortening(const TableForm& form) const {
  const Layout layout = lay_out(form);
  if (layout.left_out.empty() && !layout.is_cut) return "";
  std::vector<std::string> parts;
  if (!layout.left_out.empty()) {
    parts.push_back(fmt::format("{} not shown", fmt::join(layout.left_out, ", ")));
  }
  if (layout.is_cut) parts.emplace_back("long lines cut");
  const std::string line = fmt::format("(Too wide for {} columns: {}. -o wide shows everything.)",
                                       form.width, fmt::join(parts, "; "));
  return fmt::format("{}\n", fmt::join(text::wrap(line, form.width), "\n"));
}

std::string Listing::table(const TableForm& form) const {
  const std::vector<Shown> all = lay_out(form).shown;
  std::string made;
  const auto add_line = [&](const auto& text_of, const auto& is_strong) {
    const std::size_t begin = made.size();
    std::size_t room = form.wide ? std::numeric_limits<std::size_t>::max() : form.width;
    const auto add = [&](std::string_view text) {
      const std::string_view fits = first_letters(text, room);
      room -= letters(fits);
      made += fits;
    };
    for (const Shown& each : all) {
      const std::string& text = text_of(each);
      const std::string space(each.width - letters(text), ' ');
      if (&each != all.data()) add(kBetween);
      if (each.right) add(space);
      const bool is_bold = form.colour && is_strong(each);
      if (is_bold) made += "\x1b[1m";
      add(text);
      if (is_bold) made += "\x1b[0m";
      if (!each.right) add(space);
    }
    made.erase(std::max(begin, made.find_last_not_of(' ') + 1));
    made += '\n';
  };
  if (form.header) {
    add_line([](const Shown& each) -> const std::string& { return each.column->label; },
             [](const Shown&) { return false; });
  }
  for (std::size_t row = 0; row < size(); ++row) {
    add_line([&](const Shown& each) -> const std::string& { return each.texts[row]; },
             [&](const Shown& each) { return each.column->cells[row].is_strong(); });
  }
  return made;
}

Result<void> Listing::write_csv(table::OutputFile file, bool header) const {
  table::CsvWriter csv(file);
  const auto each_column = [&](const auto& write) {
    for (const Column& column : columns_) {
      if (column.is_file_column) write(column);
    }
    csv.end_row();
  };
  if (header) each_column([&](const Column& column) { csv.text(column.name); });
  for (std::size_t row = 0; row < size(); ++row) {
    each_column([&](const Column& column) { write_cell(csv, column.cells[row], column.digits); });
  }
  csv.flush();
  return file.commit();
}

std::string Listing::json() const { return dumped(to_array(*this), 2) + "\n"; }

nlohmann::ordered_json to_value(const Cell& cell) {
  using Json = nlohmann::ordered_json;
  return std::visit(
      Overloaded{[](std::monostate) { return Json(); },
                 [](double value) { return std::isfinite(value) ? Json(value) : Json(); },
                 [](Time at) { return Json(seconds(at)); },
                 [](Duration length) { return Json(seconds(length)); },
                 [](const auto& value) { return Json(value); }},
      cell.value());
}

nlohmann::ordered_json to_array(const Listing& rows) {
  auto all = nlohmann::ordered_json::array();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto object = nlohmann::ordered_json::object();
    for (const Listing::Column& column : rows.columns()) {
      if (column.is_file_column) object[column.name] = to_value(column.cells[row]);
    }
    all.push_back(std::move(object));
  }
  return all;
}

}  // namespace almanac::figure
