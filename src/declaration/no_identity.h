// What people take for a message's identity and what is none: all of it is refused, with the reason and a way out.
// docs/concepts/identity.md tells the same at length.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace onceward::declaration {

struct NoIdentity {
  std::string_view anchor;  // in docs/concepts/identity.md; empty: the page as a whole
  std::string_view why;     // "it ..."
  std::string_view instead;
  std::span<const std::string_view> names;    // of headers, JSON members and our own words
  std::span<const std::string_view> as_word;  // none as a bare word; a header or a member of that name may be one
};

// Every kind that is refused.
std::span<const NoIdentity> no_identities();

// Each answers the kind that the name belongs to, or null. Case, separators and the prefixes of bindings
// ("x-", "ce_", "cloudEvents:", "kafka_"...) do not matter: x-correlation-id is correlationId.
const NoIdentity* no_identity_named(std::string_view word);
const NoIdentity* no_identity_in_header(std::string_view header);
const NoIdentity* no_identity_at(std::string_view pointer);  // judged by its last member

std::string explain(const NoIdentity& kind);  // "is no identity: it ..."
std::string way_out(const NoIdentity& kind);  // "use ...; see docs/concepts/identity.md#..."

}  // namespace onceward::declaration
