// The card of attention. view: {example, state: what is selected, and the elements that show it}.

let play_timer = 0;
function stop_playing() { clearInterval(play_timer); play_timer = 0; }

function attention_card(example, state) {
  const names = Object.keys(map_titles).filter(name => example.maps[name]);
  if (!example.maps[state.map]) state.map = names[0];
  const view = {example, state, plot: make_plot('attention'), heads: make('div', {class: 'heads'}),
    layers: make('div', {}), step_label: make('output', {})};
  view.slider = make('input', {type: 'range', id: 'step', min: 1, step: 1, 'aria-label': 'step',
    input: () => show_step(view, Number(view.slider.value))});
  view.plot.draw = () => start_map(view);
  const maps = choice_buttons(names.map(name => map_titles[name]), names.indexOf(state.map),
    index => { state.map = names[index]; state.step = 1; start_map(view); });
  const content = make('div', {},
    make('div', {class: 'controls'}, make('label', {class: 'slider'}, view.slider, view.step_label),
      make('div', {}, play_button(view)), view.layers),
    make('div', {class: 'attention'}, view.plot, view.heads));
  return card('whole', 'Attention', content, make('div', {}, ...(names.length > 1 ? maps : [])));
}

function play_button(view) {
  const button = make('button', {type: 'button', click: () => {
    button.textContent = play_timer ? 'play' : 'stop';
    if (play_timer) return stop_playing();
    play_timer = setInterval(() => show_step(view, view.state.step % Number(view.slider.max) + 1), 800);
  }}, 'play');
  return button;
}

// Called when another map is selected.
function start_map(view) {
  const {example, state, slider} = view;
  const maps = example.maps[state.map];
  slider.max = Math.max(...maps.map(one => one.step));
  view.max_weight = draw.max_weight_of(example, state.map);
  const layers = [...new Set(maps.map(one => one.layer))];
  const buttons = choice_buttons(layers.map(layer => String(layer + 1)), layers.indexOf(state.layer),
    index => { state.layer = layers[index]; show_map(view); });
  view.layers.replaceChildren(...(layers.length > 1 ? [make('span', {}, 'layer'), ...buttons] : []));
  start_heads(view, [...maps[0].weights.keys(), -1]);
  show_step(view, Math.min(state.step, Number(slider.max)));
}

// The buttons stay while steps and layers change, so that the keyboard keeps its place.
function start_heads(view, heads) {
  view.thumbnails = heads.map(head => ({head, picture: make('span', {})}));
  const buttons = choice_buttons(heads.map(head => head < 0 ? 'mean' : `head ${head + 1}`),
    heads.indexOf(view.state.head), index => { view.state.head = heads[index]; show_map(view); });
  buttons.forEach((button, index) => button.prepend(view.thumbnails[index].picture));
  view.heads.replaceChildren(...buttons);
}

function show_step(view, step) {
  view.state.step = step;
  view.slider.value = step;
  view.step_label.textContent = `step ${step} of ${view.slider.max}`;
  show_map(view);
}

function show_map(view) {
  const {example, state, plot} = view;
  const spec_of = (head, width) => draw.map_spec(example, state.map, state.step, state.layer, head,
    {max_weight: view.max_weight, color: state.run, width});
  const spec = spec_of(state.head, Math.max(360, plot.parentElement.clientWidth - 290));
  plot.innerHTML = draw.attention_map(spec);
  hover_map(plot, spec);
  view.thumbnails.forEach(({head, picture}) => { picture.innerHTML = draw.thumbnail(spec_of(head, 100)); });
}
