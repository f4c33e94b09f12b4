#pragma once

#include <gmock/gmock.h>

#include <string>

#include "tests/program/program.h"

namespace ut::tests {

/// Expects a refusal: exit code 2, and one line on standard error that says why.
void expect_refused(const Outcome& outcome, const testing::Matcher<const std::string&>& why);

}  // namespace ut::tests
