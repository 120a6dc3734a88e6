#include <fmt/format.h>

#include <set>

#include "src/declaration/rules.h"
#include "src/declaration/sql_names.h"
#include "src/declaration/text.h"

namespace onceward::declaration {
namespace {

void check_field(const FieldDeclaration& field, const Path& path, Findings& findings) {
  if (auto wrong = wrong_with_column(field.name))
    findings.add_about_key(path, fmt::format("{} {}", in_quotes(field.name), wrong->what), std::move(wrong->hint));
  if (field.pointer.empty())
    findings.add(path / "pointer", "is missing", "where the field stands in the payload, e.g. pointer = \"/amount\"");
  else if (const auto wrong = wrong_with_pointer(field.pointer))
    findings.add(path / "pointer", *wrong, "a JSON pointer (RFC 6901) into the payload, e.g. /order/id");
  if (field.type != FieldType::decimal && field.scale != 0)
    findings.add(path / "type", "only a decimal has a scale", "type = \"decimal(2)\"");
  if (field.scale < 0 || field.scale > most_scale)
    findings.add(path / "type", fmt::format("the scale {} is outside 0 to {}", field.scale, most_scale),
                 "a decimal is kept exactly, in 64 bits");
}

}  // namespace

void check_fields(const std::vector<FieldDeclaration>& fields, const Path& path, Findings& findings) {
  if (fields.size() > most_fields)
    findings.add(path, fmt::format("{} fields, more than {}", fields.size(), most_fields),
                 "declare what the SQL names; the whole payload is a column too");
  std::set<std::string_view> names;
  for (const FieldDeclaration& field : fields) {
    check_field(field, path / field.name, findings);
    if (!names.insert(field.name).second)
      findings.add_about_key(path / field.name, fmt::format("{} is declared twice", in_quotes(field.name)),
                             "keep one of them");
  }
}

}  // namespace onceward::declaration
