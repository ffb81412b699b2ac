// SPDX-License-Identifier: Apache-2.0
#include "kube/yaml.h"

#include <memory>
#include <string>

#include <fmt/format.h>
#include <yaml.h>

namespace almanac::kube {
namespace {

using nlohmann::json;

/// A document of aliases of aliases would otherwise grow without bound, and one whose alias
/// contains itself would never end.
constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::size_t kDeepestYaml = 64;

struct TooLarge {
  const char* what;
};

class Converter {
 public:
  explicit Converter(yaml_document_t& document) : document_(document) {}

  /// Throws TooLarge.
  json convert(const yaml_node_t* node, std::size_t depth = 0) {
    if (node == nullptr) return nullptr;
    if (++nodes_ > kMostNodes) throw TooLarge{"more than 1,000,000 values after its aliases"};
    if (depth > kDeepestYaml) throw TooLarge{"values nested deeper than 64, or a recursive alias"};
    if (node->type == YAML_SEQUENCE_NODE) {
      json made = json::array();
      for (const auto* at = node->data.sequence.items.start; at < node->data.sequence.items.top;
           ++at) {
        made.push_back(convert(::yaml_document_get_node(&document_, *at), depth + 1));
      }
      return made;
    }
    if (node->type == YAML_MAPPING_NODE) {
      json made = json::object();
      for (const auto* at = node->data.mapping.pairs.start; at < node->data.mapping.pairs.top;
           ++at) {
        const yaml_node_t* const key = ::yaml_document_get_node(&document_, at->key);
        if (key == nullptr || key->type != YAML_SCALAR_NODE) continue;
        made[text_of(key)] = convert(::yaml_document_get_node(&document_, at->value), depth + 1);
      }
      return made;
    }
    if (node->type != YAML_SCALAR_NODE) return nullptr;
    const std::string text = text_of(node);
    if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return text;
    if (text.empty() || text == "null" || text == "~") return nullptr;
    if (text == "true" || text == "false") return text == "true";
    return text;
  }

 private:
  static std::string text_of(const yaml_node_t* node) {
    // The parser's bytes are unsigned.
    return {reinterpret_cast<const char*>(node->data.scalar.value), node->data.scalar.length};
  }

  yaml_document_t& document_;
  std::size_t nodes_ = 0;
};

}  // namespace

Result<nlohmann::json> parse_yaml(std::string_view text) {
  yaml_parser_t parser;
  ::yaml_parser_initialize(&parser);
  const std::unique_ptr<yaml_parser_t, void (*)(yaml_parser_t*)> parser_end(&parser,
                                                                            ::yaml_parser_delete);
  ::yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  yaml_document_t document;
  if (::yaml_parser_load(&parser, &document) == 0) {
    return fail(Code::invalid, parser.problem != nullptr ? parser.problem : "expected YAML",
                {.file = {},
                 .line = static_cast<std::int64_t>(parser.problem_mark.line) + 1,
                 .column = static_cast<std::int64_t>(parser.problem_mark.column) + 1});
  }
  const std::unique_ptr<yaml_document_t, void (*)(yaml_document_t*)> document_end(
      &document, ::yaml_document_delete);
  try {
    return Converter(document).convert(::yaml_document_get_root_node(&document));
  } catch (const TooLarge& refused) {
    return fail(Code::invalid, fmt::format("the YAML has {}", refused.what));
  }
}

}  // namespace almanac::kube
