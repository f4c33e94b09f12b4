#pragma once

namespace ut::launcher {

/// From now on each of LibTorch's warnings on this thread is printed once on standard error, not in every update.
void say_library_warnings_once();

}  // namespace ut::launcher
