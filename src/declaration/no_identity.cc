#include "src/declaration/no_identity.h"

#include <fmt/format.h>

#include <algorithm>

namespace onceward::declaration {
namespace {

using Names = std::string_view[];

// Names are written as normalised() leaves them.
constexpr Names delivery_tag = {
    "deliverytag", "deliverycount",    "deliveryid",      "redelivered",        "redeliverycount",  "acquiredcount",
    "death",       "firstdeathreason", "firstdeathqueue", "firstdeathexchange", "redeliverycounter"};
constexpr Names offset = {
    "offset",      "partitionoffset",   "topicpartitionoffset", "streamoffset", "queueoffset", "partition",
    "partitionid", "receivedpartition", "receivedpartitionid",  "lsn",          "logposition", "byteoffset",
    "fileoffset"};
constexpr Names offset_words = {"position", "cursor"};
constexpr Names correlation_id = {"correlationid", "causationid", "traceid", "traceparent", "spanid", "conversationid"};
constexpr Names random_uuid = {"random",  "randomid", "randomuuid", "attempt", "attemptid",
                               "retryid", "retry",    "retrycount", "retries", "deliveryattempt"};
constexpr Names random_uuid_words = {"generated", "uuid", "uuid4", "uuidv4", "guid", "new"};
constexpr Names timestamp = {
    "timestamp", "occurredat", "createdat", "receivedat",   "sentat", "publishedat", "updatedat",
    "time",      "date",       "datetime",  "creationtime", "now",    "eventtime",   "receivedtimestamp"};
constexpr Names recipient = {"recipient",    "recipientid", "to",          "email",
                             "emailaddress", "phone",       "phonenumber", "recipientonly"};
constexpr Names row_id = {"rowid", "rownumber", "autoincrement", "autoincrementid", "ctid", "rowsequence"};
constexpr Names row_id_words = {"id", "row", "sequence", "serial", "identity", "primarykey"};
constexpr Names payload_hash = {"payloadhash",   "contenthash", "bodyhash", "messagehash", "checksum",     "digest",
                                "payloaddigest", "contentmd5",  "md5",      "sha256",      "payloadsha256"};
constexpr Names payload_hash_words = {"hash", "payload", "body", "content", "etag"};
constexpr Names entity_words = {"businesskey", "aggregateid", "aggregatetype", "partitionkey", "routingkey", "key"};

constexpr NoIdentity kinds[] = {
    {"k13-delivery-tag",
     "it numbers or describes deliveries, and a redelivery of the same message gets another one",
     "the id that the producer gave the message",
     delivery_tag,
     {}},
    {"k13-offset", "it is a place in one broker's log; the same message, published again or mirrored, gets another one",
     "the id that the producer gave the message, or aggregate_version", offset, offset_words},
    {"k13-correlation-id",
     "it groups the messages of a journey, so the second message of the journey would be dropped",
     "message_id or event_id",
     correlation_id,
     {}},
    {"k13-random-uuid-per-retry", "it is made anew for each attempt, so no repeat would ever be recognised",
     "an id made once, in the transaction that made the fact", random_uuid, random_uuid_words},
    {"k13-timestamp",
     "two messages may have the same time, and a publisher that tries again may take another",
     "message_id or event_id",
     timestamp,
     {}},
    {"k13-recipient-only",
     "it names who is told, so the second notification to the same person would be dropped",
     "the notification's own id, with recipient and template version in it",
     recipient,
     {}},
    {"k13-row-id", "it numbers rows of one table; a restore, an import or another table gives the number again",
     "an id that the producer makes with the fact", row_id, row_id_words},
    {"k13-payload-hash",
     "two orders for the same thing have the same bytes, and one order written twice may not; a hash is for diagnosis",
     "message_id or event_id; Onceward compares the hash by itself", payload_hash, payload_hash_words},
    {"",
     "it names what the message is about, and many messages are about the same thing",
     "idempotency_key for the operation, or aggregate_version for a step in the entity's history",
     {},
     entity_words},
};

constexpr std::string_view binding_prefixes[] = {"cloudevents_", "cloudevents:", "ce_", "ce-",    "kafka_", "amqp_",
                                                 "jmsx",         "jms_",         "jms", "x-opt-", "x-"};

std::string lower_case(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string normalised(std::string_view name) {
  std::string result = lower_case(name);
  for (const std::string_view prefix : binding_prefixes) {
    if (!result.starts_with(prefix)) continue;
    result.erase(0, prefix.size());
    break;
  }
  std::erase_if(result, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); });
  return result;
}

bool has(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

const NoIdentity* find(std::string_view name, bool bare_word) {
  const std::string wanted = normalised(name);
  for (const NoIdentity& kind : kinds)
    if (has(kind.names, wanted) || (bare_word && has(kind.as_word, wanted))) return &kind;
  return nullptr;
}

}  // namespace

std::span<const NoIdentity> no_identities() { return kinds; }

const NoIdentity* no_identity_named(std::string_view word) { return find(word, true); }

const NoIdentity* no_identity_in_header(std::string_view header) { return find(header, false); }

const NoIdentity* no_identity_at(std::string_view pointer) {
  return find(pointer.substr(std::min(pointer.rfind('/'), pointer.size())), false);
}

std::string explain(const NoIdentity& kind) { return fmt::format("is no identity: {}", kind.why); }

std::string way_out(const NoIdentity& kind) {
  return fmt::format("use {}; see docs/concepts/identity.md{}{}", kind.instead, kind.anchor.empty() ? "" : "#",
                     kind.anchor);
}

}  // namespace onceward::declaration
