// What a payload is, for those who must write it into a JSON text.
#pragma once

#include <string_view>

namespace onceward {

// Whether the bytes are one JSON value that a reader of the enclosing text gives back as exactly these bytes: valid, no
// white space around it, and not deeper than the default limit allows inside an envelope.
bool is_embeddable_json(std::string_view payload);

// Whether a media type says JSON: */json or */*+json, whatever its parameters; none at all counts as JSON.
bool declares_json(std::string_view content_type);

// UTF-8 without NUL.
bool is_text(std::string_view bytes);

}  // namespace onceward
