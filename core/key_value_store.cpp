#include "core/key_value_store.h"

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "dist/differentiable.h"

namespace ut::core {

void KeyValueStore::turn_to(std::int64_t step, const at::Tensor& fresh, const at::Tensor& slot) {
  if (std::abs(step - current_) > 1) throw std::logic_error("steps with halting are gone back to in reverse, and once");
  if (step == current_) return;  // already in place, for example if the step has just been recomputed
  store_.put(fresh, slot);
  current_ = step;
}

at::Tensor KeyValueStore::attend(std::int64_t step, const at::Tensor& query, const at::Tensor& fresh,
                                 const at::Tensor& slot, const AttentionLayout& layout, const AttentionSite& site) {
  turn_to(step, fresh, slot);
  const GraphlessAttention attention = layout.attend_without_graph(query, store_.rows(), site);
  return dist::with_backward(
      attention.output, {query, fresh},
      [store = shared_from_this(), step, fresh = fresh.detach(), slot, attention](const at::Tensor& gradient) {
        store->turn_to(step, fresh, slot);
        const at::Tensor of_query = attention.backward(gradient, store->store_.gradients());
        return std::vector<at::Tensor>{of_query, store->store_.take_gradients(slot)};
      });
}

}  // namespace ut::core
