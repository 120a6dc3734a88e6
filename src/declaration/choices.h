// The words of TOML for the members of our enumerations.
#pragma once

#include <span>
#include <string_view>

#include "onceward/declaration.h"

namespace onceward::declaration {

template <class Enum>
struct Choice {
  std::string_view word;
  Enum value;
};

template <class Enum>
struct Choices;  // `what` for messages ("no such ..."), and `all`

template <>
struct Choices<Order> {
  static constexpr std::string_view what = "order";
  static constexpr Choice<Order> all[] = {{"none", Order::none}, {"partition", Order::partition}, {"key", Order::key}};
};

template <>
struct Choices<GapPolicy> {
  static constexpr std::string_view what = "gap policy";
  static constexpr Choice<GapPolicy> all[] = {{"accept_latest", GapPolicy::accept_latest},
                                              {"wait", GapPolicy::wait},
                                              {"repair", GapPolicy::repair},
                                              {"fail", GapPolicy::fail}};
};

template <>
struct Choices<KeyScheme> {
  static constexpr std::string_view what = "key scheme";
  static constexpr Choice<KeyScheme> all[] = {
      {"hash", KeyScheme::hash}, {"uuidv7", KeyScheme::uuidv7}, {"ulid", KeyScheme::ulid}};
};

template <>
struct Choices<EffectDeclaration::Kind> {
  using Kind = EffectDeclaration::Kind;
  static constexpr std::string_view what = "kind of effect";
  static constexpr Choice<Kind> all[] = {{"database", Kind::database},
                                         {"outgoing", Kind::outgoing},
                                         {"call", Kind::call},
                                         {"notification", Kind::notification}};
};

template <>
struct Choices<RetentionCategory> {
  static constexpr std::string_view what = "retention category";
  static constexpr Choice<RetentionCategory> all[] = {{"money", RetentionCategory::money},
                                                      {"regulatory", RetentionCategory::regulatory},
                                                      {"notification", RetentionCategory::notification},
                                                      {"projection", RetentionCategory::projection},
                                                      {"telemetry", RetentionCategory::telemetry},
                                                      {"low_value", RetentionCategory::low_value}};
};

template <>
struct Choices<Mode> {
  static constexpr std::string_view what = "mode";
  static constexpr Choice<Mode> all[] = {{"live", Mode::live},         {"replay", Mode::replay},
                                         {"backfill", Mode::backfill}, {"rebuild", Mode::rebuild},
                                         {"forensic", Mode::forensic}, {"repair", Mode::repair}};
};

template <>
struct Choices<Offsets> {
  static constexpr std::string_view what = "keeper of offsets";
  static constexpr Choice<Offsets> all[] = {{"inbox", Offsets::inbox}, {"store", Offsets::store}};
};

template <>
struct Choices<TransactionScope> {
  static constexpr std::string_view what = "transaction";
  static constexpr Choice<TransactionScope> all[] = {{"batch", TransactionScope::batch},
                                                     {"each", TransactionScope::each}};
};

template <>
struct Choices<LogDeclaration::Format> {
  using Format = LogDeclaration::Format;
  static constexpr std::string_view what = "format";
  static constexpr Choice<Format> all[] = {{"auto", Format::automatic}, {"json", Format::json}, {"text", Format::text}};
};

template <>
struct Choices<LogLevel> {
  static constexpr std::string_view what = "level";
  static constexpr Choice<LogLevel> all[] = {
      {"error", LogLevel::error}, {"warn", LogLevel::warn}, {"info", LogLevel::info}, {"debug", LogLevel::debug}};
};

template <>
struct Choices<Approval> {
  static constexpr std::string_view what = "word about approval";
  static constexpr Choice<Approval> all[] = {{"none", Approval::none}, {"required", Approval::required}};
};

template <>
struct Choices<NotificationClass> {
  using Class = NotificationClass;
  static constexpr std::string_view what = "notification class";
  static constexpr Choice<Class> all[] = {
      {"transactional", Class::transactional}, {"campaign", Class::campaign}, {"best_effort", Class::best_effort}};
};

// The fields of an envelope that may identify it. The business key is missing here because the rules refuse it.
template <>
struct Choices<FromEnvelope::Member> {
  using Member = FromEnvelope::Member;
  static constexpr std::string_view what = "identity";
  static constexpr Choice<Member> all[] = {{"message_id", Member::message_id},
                                           {"event_id", Member::event_id},
                                           {"command_id", Member::command_id},
                                           {"idempotency_key", Member::idempotency_key}};
};

// Types without a parameter; decimal(scale) is read by itself.
template <>
struct Choices<FieldType> {
  static constexpr std::string_view what = "type";
  static constexpr Choice<FieldType> all[] = {{"text", FieldType::text},    {"int64", FieldType::int64},
                                              {"bool", FieldType::boolean}, {"timestamp", FieldType::timestamp},
                                              {"uuid", FieldType::uuid},    {"bytes", FieldType::bytes}};
};

}  // namespace onceward::declaration
