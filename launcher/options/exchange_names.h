#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dist/exchange_options.h"

namespace ut::launcher {

/// The names that options use for the parts of an exchange.
template <class Value>
using Names = std::vector<std::pair<std::string, Value>>;

const Names<dist::ExchangeForm>& exchange_forms();
const Names<dist::Sent>& exchange_sends();
const Names<dist::Cut>& exchange_cuts();

std::string name_of(dist::ExchangeForm form);
std::string name_of(dist::Sent sent);
std::string name_of(dist::Cut cut);

}  // namespace ut::launcher
