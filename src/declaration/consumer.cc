#include "src/declaration/consumer.h"

#include <fmt/format.h>

#include <charconv>

#include "src/declaration/endpoint.h"
#include "src/declaration/suggestion.h"
#include "src/declaration/text.h"

namespace onceward::declaration {

// Static and not in an unnamed namespace, where into<>() would not find an overload of read().

// A range that is declared is meant: a message without a version is refused unless the file says otherwise.
static void read(Reading& reading, const Item& item, VersionRange& range) {
  constexpr Key<VersionRange> keys[] = {{"lowest", into<&VersionRange::lowest>},
                                        {"highest", into<&VersionRange::highest>},
                                        {"required", into<&VersionRange::required>}};
  constexpr std::string_view hint = "2, [1, 3] or { lowest = 1, highest = 3, required = false }";
  range.required = true;
  if (const auto* version = std::get_if<std::int64_t>(&item.node.value)) {
    range.lowest = range.highest = *version;
  } else if (const auto* bounds = std::get_if<Array>(&item.node.value)) {
    if (bounds->size() != 2) return reading.mistake(item, "not two versions", std::string(hint));
    read(reading, {(*bounds)[0], item.path[0]}, range.lowest);
    read(reading, {(*bounds)[1], item.path[1]}, range.highest);
  } else if (std::holds_alternative<Table>(item.node.value)) {
    read_table(reading, item, keys, range);
  } else {
    reading.wrong_kind(item, "a range of versions", hint);
  }
}

// "decimal(2)" -> 2
static std::optional<int> scale_in(std::string_view word) {
  constexpr std::string_view before = "decimal(";
  if (!word.starts_with(before) || !word.ends_with(')')) return std::nullopt;
  word = word.substr(before.size(), word.size() - before.size() - 1);
  unsigned scale = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), scale);
  if (error != std::errc{} || end != word.data() + word.size() || scale > 1000) return std::nullopt;
  return static_cast<int>(scale);
}

static void read_type(Reading& reading, const Item& item, FieldDeclaration& field) {
  const std::string* word = string_in(reading, item, "e.g. \"text\" or \"decimal(2)\"");
  if (word == nullptr) return;
  if (const auto scale = scale_in(*word)) {
    field.type = FieldType::decimal;
    field.scale = *scale;
  } else if (const auto type = choice_named<FieldType>(*word)) {
    field.type = *type;
  } else {
    std::vector<std::string_view> known = words<FieldType>();
    known.push_back("decimal(2)");
    no_such_choice(reading, item, *word, Choices<FieldType>::what, known);
  }
}

constexpr Key<FieldDeclaration> field_keys[] = {{"pointer", into<&FieldDeclaration::pointer>},
                                                {"type", read_type},
                                                {"optional", into<&FieldDeclaration::optional>}};

static void read(Reading& reading, const Item& item, std::vector<FieldDeclaration>& fields) {
  const Table* table = table_in(reading, item);
  if (table == nullptr) return;
  for (const Entry& entry : table->entries) {
    FieldDeclaration& field = fields.emplace_back();
    field.name = entry.key;
    read_table(reading, {entry.value, item.path / entry.key}, field_keys, field);
  }
}

// What is not declared gets the safe answer: what leaves the database cannot be taken back.
static bool leaves_for_good(EffectDeclaration::Kind kind) {
  return kind == EffectDeclaration::Kind::call || kind == EffectDeclaration::Kind::notification;
}

static void read(Reading& reading, const Item& item, EffectDeclaration& effect) {
  constexpr Key<EffectDeclaration> keys[] = {{"name", into<&EffectDeclaration::name>},
                                             {"kind", into<&EffectDeclaration::kind>},
                                             {"irreversible", into<&EffectDeclaration::irreversible>}};
  read_table(reading, item, keys, effect);
  const auto* table = std::get_if<Table>(&item.node.value);
  if (table != nullptr && table->find("irreversible") == nullptr) effect.irreversible = leaves_for_good(effect.kind);
}

static void read(Reading& reading, const Item& item, std::vector<EffectDeclaration>& effects) {
  const Array* array = array_in(reading, item, "each effect under a header [[consumer.effect]]");
  if (array == nullptr) return;
  for (std::size_t i = 0; i < array->size(); ++i)  // one for each element, so that a finding's index is the file's
    read(reading, {(*array)[i], item.path[i]}, effects.emplace_back());
}

void read(Reading& reading, const Item& item, RetryBudget& retry) {
  constexpr Key<RetryBudget> keys[] = {{"attempts", into<&RetryBudget::attempts>},
                                       {"first_delay", into<&RetryBudget::first_delay>},
                                       {"longest_delay", into<&RetryBudget::longest_delay>}};
  read_table(reading, item, keys, retry);
}

static void read(Reading& reading, const Item& item, std::set<Mode>& modes) {
  modes.clear();
  const Array* array = array_in(reading, item, "modes = [\"live\"]");
  if (array == nullptr) return;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const Item element{(*array)[i], item.path[i]};
    Mode mode{};
    read(reading, element, mode);
    const auto* word = std::get_if<std::string>(&element.node.value);
    if (!modes.insert(mode).second && word && choice_named<Mode>(*word))
      reading.mistake(element, "is named twice", "name each mode once");
  }
}

template <HorizonInputs::Span HorizonInputs::* Member>
static void into_horizon(Reading& reading, const Item& item, Declaration& declaration) {
  read(reading, item, declaration.horizon.*Member);
}

static void read_retention(Reading& reading, const Item& item, Declaration& declaration) {
  constexpr Key<Declaration> keys[] = {{"category", into<&Declaration::category>},
                                       {"broker_retention", into_horizon<&HorizonInputs::broker_retention>},
                                       {"longest_retry", into_horizon<&HorizonInputs::longest_retry>},
                                       {"parking_age", into_horizon<&HorizonInputs::parking_age>},
                                       {"replay_reach", into_horizon<&HorizonInputs::replay_reach>},
                                       {"oldest_backup", into_horizon<&HorizonInputs::oldest_backup>},
                                       {"producer_retry", into_horizon<&HorizonInputs::producer_retry>},
                                       {"operation_lifetime", into_horizon<&HorizonInputs::operation_lifetime>},
                                       {"legal", into_horizon<&HorizonInputs::legal>}};
  read_table(reading, item, keys, declaration);
}

static void read_versions(Reading& reading, const Item& item, Declaration& declaration) {
  constexpr Key<Declaration> keys[] = {{"schema", into<&Declaration::schema_versions>},
                                       {"event", into<&Declaration::event_versions>}};
  read_table(reading, item, keys, declaration);
}

static void read(Reading& reading, const Item& item, EnvelopeLimits& limits) {
  constexpr Key<EnvelopeLimits> keys[] = {{"message_bytes", into<&EnvelopeLimits::message_bytes>},
                                          {"id_bytes", into<&EnvelopeLimits::id_bytes>},
                                          {"header_count", into<&EnvelopeLimits::header_count>},
                                          {"header_bytes", into<&EnvelopeLimits::header_bytes>},
                                          {"depth", into<&EnvelopeLimits::depth>}};
  read_table(reading, item, keys, limits);
}

// One statement, or several that run in order.
static void read_sql(Reading& reading, const Item& item, Declaration& declaration) {
  if (std::holds_alternative<Array>(item.node.value)) {
    read(reading, item, declaration.sql);
    if (declaration.sql.empty())
      reading.mistake(item, "holds no statement", "leave the key out, or give it a statement");
  } else if (std::holds_alternative<std::string>(item.node.value)) {
    read(reading, item, declaration.sql.emplace_back());
  } else {
    reading.wrong_kind(item, "a statement or an array of them",
                       "sql = \"INSERT INTO payment SELECT message_id, amount FROM messages\"");
  }
}

constexpr Key<Declaration> consumer_keys[] = {
    {"name", into<&Declaration::name>},
    {"owner", into<&Declaration::owner>},
    {"source", into<&Declaration::source>},
    {"identity", into<&Declaration::identity>},
    {"versions", read_versions},
    {"fields", into<&Declaration::fields>},
    {"effect", into<&Declaration::effects>},
    {"sql", read_sql},
    {"call", into<&Declaration::calls>},
    {"transaction", into<&Declaration::transaction>},
    {"workers", into<&Declaration::workers>},
    {"batch", into<&Declaration::batch>},
    {"order", into<&Declaration::order>},
    {"offsets", into<&Declaration::offsets>},
    {"trust_producer", into<&Declaration::trust_producer>},
    {"gap", into<&Declaration::gap>},
    {"retry", into<&Declaration::retry>},
    {"dead_letters", into<&Declaration::dead_letters>},
    {"time_bound", into<&Declaration::time_bound>},
    {"modes", into<&Declaration::modes>},
    {"retention", read_retention},
    {"limits", into<&Declaration::limits>},
};

Declaration read_consumer(Reading& reading, const Node& node) {
  Declaration declaration;
  read_table(reading, {node, Path()}, consumer_keys, declaration);
  return declaration;
}

}  // namespace onceward::declaration
