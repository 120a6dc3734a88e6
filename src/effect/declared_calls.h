// The calls that a declaration asks for with every message: made of its fields and ids, the same for the same message however
// often it is run. docs/reference/declaration.md says what a name stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/claim.h"
#include "onceward/declaration.h"
#include "onceward/transaction.h"
#include "src/common/json.h"
#include "src/declaration/body_template.h"
#include "src/declaration/text_template.h"
#include "src/effect/field_places.h"

namespace onceward {

class DeclaredCalls {
 public:
  // The declaration has no mistakes and outlives this.
  explicit DeclaredCalls(const Declaration& declaration);
  DeclaredCalls(const DeclaredCalls&) = delete;
  DeclaredCalls& operator=(const DeclaredCalls&) = delete;

  bool empty() const { return templates_.empty(); }

  // Makes the calls of a message whose fields are well-typed, or says why one of them cannot be made: its own permanent
  // failure, whose detail names a field or a part of the call, never a value.
  std::optional<Refusal> make(const Claimant& claimant);
  // Of the message made last. They borrow from its envelope, and stand until the next make().
  std::span<const Call> calls() const { return calls_; }

 private:
  using Name = std::uint32_t;  // a message's id, then the declared fields
  struct TextPiece {
    std::string text;
    std::optional<Name> name;
    char ends_at = 0;  // of a name that another follows: what must not stand in its value as it is
  };
  struct BodyPiece {
    declaration::BodyPiece::Kind kind;
    std::string text;
    Name name;
  };
  struct Text {
    std::string what;  // "call[0].key": for a refusal
    std::vector<TextPiece> pieces;
    std::string rendered;
  };
  struct Template {
    const CallDeclaration* declared;
    Text key, type, business_key, requested_by;
    std::string body_what;
    bool payload = false;
    std::vector<BodyPiece> body;
    std::string rendered_body;
  };
  struct Found {
    bool missing = false;
    bool is_text = true;  // else a JSON token as it was written
    std::string_view text{};
  };

  Name name_of(std::string_view name);
  Text text_of_template(const std::string& written, std::string what);
  Text key_of_template(const std::string& written, std::string what);
  Template template_of(const CallDeclaration& call, std::size_t index);

  std::optional<Refusal> find_fields(const Claimant& claimant);
  Found find(Name name);
  Found find_field(std::size_t index);
  const FieldDeclaration* field_of(Name name) const;  // null: it is no field
  std::string_view written_name(Name name) const;
  std::optional<Refusal> render(Text& text);
  std::optional<Refusal> render_body(Template& one);
  std::optional<Refusal> append(std::string& body, const BodyPiece& piece);

  const Declaration& declaration_;
  FieldPlaces places_;
  bool reads_fields_ = false;
  std::vector<Template> templates_;
  std::vector<Call> calls_;

  // Of the message in hand.
  const Claimant* claimant_ = nullptr;
  JsonDocument document_;
  std::span<const std::uint32_t> found_places_;
  std::string scratch_;
};

}  // namespace onceward
