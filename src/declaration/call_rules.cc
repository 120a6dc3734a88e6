// Calls that every message of a consumer asks for: what their texts may hold, and whom they go to.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/declaration/body_template.h"
#include "src/declaration/rules.h"
#include "src/declaration/suggestion.h"
#include "src/declaration/text.h"
#include "src/declaration/text_template.h"

namespace onceward::declaration {
namespace {

// The names that stand in the calls of one consumer.
class Names {
 public:
  explicit Names(const std::vector<FieldDeclaration>& fields) : fields_(fields) {
    all_.assign(message_names.begin(), message_names.end());
    for (const FieldDeclaration& field : fields) all_.push_back(field.name);
  }

  // `alone`: as a value of its own, where what is missing is null.
  void check(const std::string& name, bool alone, const Path& path, Findings& findings) const {
    if (name == "payload") return findings.add(path, "{payload} stands for a whole body only", R"(body = "{payload}")");
    if (std::ranges::find(all_, name) == all_.end())
      return findings.add(path, fmt::format("{{{}}} is no declared field", name), suggest(name, all_),
                          {Path("fields")});
    const auto field = std::ranges::find(fields_, name, &FieldDeclaration::name);
    if (field != fields_.end() && field->optional && !alone)
      findings.add(path, fmt::format("{{{}}} may be missing", name),
                   "a field that is optional stands only by itself in a body, where it is null", {Path("fields")});
  }

 private:
  const std::vector<FieldDeclaration>& fields_;
  std::vector<std::string_view> all_;
};

// True if it holds a name.
bool check_text(const std::string& text, const Names& names, const Path& path, Findings& findings) {
  if (const auto wrong = wrong_with_text(text, most_text_bytes)) {
    findings.add(path, *wrong, "a text with names of fields, e.g. \"capture/{invoice}\"");
    return true;
  }
  const auto read = read_template(text);
  if (const auto* const wrong = std::get_if<1>(&read)) {
    findings.add(path, *wrong, "{name} stands for a declared field; a brace itself is written {{ or }}");
    return true;
  }
  bool any = false;
  for (const TemplatePiece& piece : std::get<0>(read)) {
    if (!piece.is_name) continue;
    any = true;
    names.check(piece.text, false, path, findings);
  }
  return any;
}

void check_key(const std::string& key, const Names& names, const Path& path, Findings& findings) {
  constexpr const char* hint =
      "what the business would call the action, the same whoever asks for it: \"capture/{invoice}\"";
  if (key.empty()) return findings.add(path, "is missing", hint);
  if (!check_text(key, names, path, findings))
    return findings.add(path, "is the same for every message, so only the first would ever be called for", hint);
  const auto read = read_template(key);
  const auto both_names = [](const TemplatePiece& one, const TemplatePiece& next) {
    return one.is_name && next.is_name;
  };
  if (const auto* const pieces = std::get_if<0>(&read);
      pieces && std::ranges::adjacent_find(*pieces, both_names) != pieces->end())
    findings.add(path, "has two names with nothing between them, so that two actions could have one key",
                 "a character between them: \"{invoice}/{line}\"");
}

void check_body(const std::string& body, const Names& names, const Path& path, Findings& findings) {
  constexpr const char* hint = R"("{payload}", or a table: { amount = "{amount}", currency = "EUR" })";
  if (body.empty()) return findings.add(path, "is missing", hint);
  const auto read = read_body_template(body);
  if (const auto* const wrong = std::get_if<1>(&read)) return findings.add(path, *wrong, hint, {path});
  for (const BodyPiece& piece : std::get<0>(read).pieces) {
    if (piece.kind != BodyPiece::Kind::json)
      names.check(piece.text, piece.kind == BodyPiece::Kind::value, path, findings);
  }
}

void check_call(const CallDeclaration& call, const Names& names, const Path& path, Findings& findings) {
  if (call.endpoint.empty())
    findings.add(path / "endpoint", "is missing", "the name of an [[endpoint]]");
  else if (const auto wrong = wrong_with_name(call.endpoint))
    findings.add(path / "endpoint", *wrong, "the name of an [[endpoint]]");
  check_key(call.key, names, path / "key", findings);
  if (!call.type.empty()) check_text(call.type, names, path / "type", findings);
  if (!call.business_key.empty()) check_text(call.business_key, names, path / "business_key", findings);
  if (!call.requested_by.empty()) check_text(call.requested_by, names, path / "requested_by", findings);
  check_body(call.body, names, path / "body", findings);
}

}  // namespace

void check_calls(const Declaration& declaration, const Path& path, Findings& findings) {
  const std::vector<CallDeclaration>& calls = declaration.calls;
  if (calls.empty()) return;
  if (declaration.sql.empty())
    findings.add_about_key(path, "are for handlers in SQL", "add sql, or let the handler in C++ stage its own calls",
                           {Path("sql")});
  if (calls.size() > most_calls)
    return findings.add(path, fmt::format("{} calls, more than {}", calls.size(), most_calls),
                        "a message that asks for so much is several messages");
  const Names names(declaration.fields);
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    check_call(calls[i], names, path[i], findings);
    if (!calls[i].key.empty() && !seen.emplace(calls[i].endpoint, calls[i].key).second)
      findings.add(path[i] / "key", "stands at another call to the same endpoint",
                   "one key is one call: give each action a key of its own");
  }
}

std::vector<Finding> find_in_calls(const Declaration& declaration, const std::vector<EndpointDeclaration>& endpoints) {
  Findings findings;
  std::vector<std::string_view> names;
  for (const EndpointDeclaration& endpoint : endpoints) names.push_back(endpoint.name);
  // One whose name could not be read may be the one that is meant.
  if (endpoints.empty() || std::ranges::find(names, std::string_view()) != names.end()) return {};
  for (std::size_t i = 0; i < declaration.calls.size(); ++i) {
    const std::string& name = declaration.calls[i].endpoint;
    if (!name.empty() && std::ranges::find(names, name) == names.end())
      findings.add(Path("call")[i] / "endpoint", fmt::format("{} is no endpoint of this file", in_quotes(name)),
                   suggest(name, names));
  }
  return findings.all();
}

}  // namespace onceward::declaration
