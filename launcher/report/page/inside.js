// The model at work on an example.

// Buttons, of which one is pressed at a time. A click calls select(index).
function choice_buttons(names, selected, select) {
  const buttons = names.map((name, index) =>
    make('button', {type: 'button', 'aria-pressed': String(index === selected), click: () => {
      buttons.forEach((button, other) => button.setAttribute('aria-pressed', String(other === index)));
      select(index);
    }}, name));
  return buttons;
}

const map_titles = {encoder: 'encoder self-attention', decoder: 'decoder self-attention',
  source: 'encoder-decoder attention'};

function show_inside() {
  const runs = [...report.runs.keys()].filter(index => report.runs[index].model);
  if (!runs.length) return;
  const body = make('div', {});
  const start_of = run => ({run, example: 0, map: 'encoder', head: 0, step: 1, layer: 0});
  let state = start_of(runs[0]);
  const show = () => show_example(body, state);
  const run_select = make('select', {id: 'model-of', 'aria-label': 'run',
    change: () => { state = start_of(Number(run_select.value)); show(); }},
    ...runs.map(index => make('option', {value: index}, report.runs[index].name)));
  section('inside').append(
    make('h2', {}, 'The model at work'),
    quiet(`Examples of the ${report.split} split. `,
      'Decoders are teacher-forced: they predict each symbol after the right ones.'),
    runs.length > 1 ? make('div', {class: 'controls'}, make('div', {}, make('span', {}, 'run'), run_select)) : '',
    body);
  other_redraws.push(show);
}

function show_example(body, state) {
  stop_playing();
  const model = report.runs[state.run].model;
  const example = model.examples[state.example];
  const examples = choice_buttons(model.examples.map(one => String(one.number)), state.example, index => {
    state.example = index;
    show_example(body, state);
    body.querySelectorAll('.examples button')[index].focus();
  });
  const halting = Object.keys(example.stacks).filter(stack => example.stacks[stack].halting);
  body.replaceChildren(
    make('div', {class: 'controls'}, make('div', {class: 'examples'}, make('span', {}, 'example'), ...examples),
      make('span', {}, `checkpoint ${model.checkpoint}`)),
    cards(answer_card(example), ...halting.map(stack => words_card(example, stack, state)),
      attention_card(example, state)));
  body.querySelectorAll('.plot').forEach(plot => plot.draw());
}

function answer_card(example) {
  const wanted = example.wanted.join(' ');
  const said = example.said.join(' ');
  // A language model's input begins with the start mark, which is no word.
  const input = example.source.length ? example.source.join(' · ') : example.given.slice(1).join(' ');
  return make('div', {class: 'card whole'}, make('div', {class: 'given'}, input),
    make('p', {}, 'expected ', make('b', {}, wanted), ' — the model says ',
      make('span', {class: said === wanted ? 'right-answer' : 'wrong-answer'}, said)));
}

function words_card(example, stack, state) {
  const plot = make_plot('ponder-words');
  plot.draw = () => {
    const options = {width: width_of(plot), color: state.run};
    plot.innerHTML = draw.ponder_words(draw.ponder_words_spec(example, stack, options));
  };
  return card('whole', `Ponder time of each position, ${stack}`, plot);
}
