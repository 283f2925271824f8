// What Cython may keep as a local variable, a field or a temporary.
#pragma once
#include <type_traits>

namespace fasttree {

// Cython makes such values, moves them and assigns to fields outside any `try`, so none of it may
// throw; what is expensive to copy, and may therefore throw, must not be copyable.
template <class T>
constexpr bool is_value =
    std::is_nothrow_default_constructible_v<T> && std::is_nothrow_destructible_v<T> &&
    (std::is_nothrow_move_assignable_v<T> || !std::is_move_assignable_v<T>) &&
    (std::is_nothrow_copy_assignable_v<T> || !std::is_copy_assignable_v<T>);

}  // namespace fasttree
