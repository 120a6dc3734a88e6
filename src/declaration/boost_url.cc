// Boost.URL itself, which Debian has only as headers for this version: compiled here, and in no other file.
#include <boost/url/src.hpp>
