// Which columns of a relation a statement reads, so that the others need not be sent.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace onceward {

// The numbers of the columns that `sql` may read, in their order: those whose name it has somewhere outside of strings and
// comments; all of them where it says *, NATURAL, or takes a row of the relation as a whole. Too many cost time, too few
// would be a mistake, so in doubt it is all.
std::vector<std::uint32_t> columns_read(std::string_view sql, std::string_view relation,
                                        std::span<const std::string_view> columns);

}  // namespace onceward
