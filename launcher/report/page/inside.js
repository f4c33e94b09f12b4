// The model at work on an example.

// Buttons of which one is pressed; `choose(index)` on a click.
function choose_one(names, chosen, choose) {
  const buttons = names.map((name, index) =>
    make('button', {type: 'button', 'aria-pressed': String(index === chosen), click: () => {
      buttons.forEach((button, other) => button.setAttribute('aria-pressed', String(other === index)));
      choose(index);
    }}, name));
  return buttons;
}

const map_titles = {encoder: 'encoder over itself', decoder: 'decoder over itself', source: 'decoder over the source'};

function show_inside() {
  const runs = [...report.runs.keys()].filter(index => report.runs[index].model);
  if (!runs.length) return;
  const body = make('div', {});
  const first_of = run => ({run, example: 0, map: 'encoder', head: 0, step: 1, layer: 0});
  let state = first_of(runs[0]);
  const show = () => show_example(body, state);
  const pick = make('select', {id: 'model-of', 'aria-label': 'run',
    change: () => { state = first_of(Number(pick.value)); show(); }},
    ...runs.map(index => make('option', {value: index}, report.runs[index].name)));
  section('inside').append(
    make('h2', {}, 'The model at work'),
    quiet(`Examples of the ${report.split} split; decoders are given the right symbols before each.`),
    runs.length > 1 ? make('div', {class: 'controls'}, make('div', {}, make('span', {}, 'run'), pick)) : '',
    body);
  other_cards.push(show);
}

function show_example(body, state) {
  stop_playing();
  const model = report.runs[state.run].model;
  const example = model.examples[state.example];
  const examples = choose_one(model.examples.map(one => String(one.number)), state.example,
    index => { state.example = index; show_example(body, state); });
  const halting = Object.keys(example.stacks).filter(stack => example.stacks[stack].halting);
  body.replaceChildren(
    make('div', {class: 'controls'}, make('div', {}, make('span', {}, 'example'), ...examples),
      make('span', {}, `checkpoint ${model.checkpoint}`)),
    cards(what_is_said(example), ...halting.map(stack => words_card(example, stack, state)),
      attention_card(example, state)));
  body.querySelectorAll('.plot').forEach(plot => plot.draw());
}

function what_is_said(example) {
  const wanted = example.wanted.join(' ');
  const said = example.said.join(' ');
  // What a language model reads begins with the mark of the start, which is no word.
  const read = example.source.length ? example.source.join(' · ') : example.given.slice(1).join(' ');
  return make('div', {class: 'card whole'}, make('div', {class: 'given'}, read),
    make('p', {}, 'wanted ', make('b', {}, wanted), ' — the model says ',
      make('span', {class: said === wanted ? 'right-answer' : 'wrong-answer'}, said)));
}

function words_card(example, stack, state) {
  const plot = plot_of('ponder-words');
  plot.draw = () => {
    plot.innerHTML = draw.words(draw.words_spec(example, stack, {width: width_of(plot), color: state.run}));
  };
  return card('whole', `Ponder time of each position, ${stack}`, plot);
}
