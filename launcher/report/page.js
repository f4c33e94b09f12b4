// The page: what is shown of the report, and what moves. Pictures are draw.js's.
'use strict';
const report = JSON.parse(document.getElementById('report').textContent);
const shown = {hidden: {}, smooth: 0, log: {}, hours: false};

// An element with attributes, listeners (functions), text and other elements in it.
function make(kind, attributes, ...children) {
  const element = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes || {}))
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? '' : value);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const section = name => document.getElementById(name);
const quiet = (...words) => make('p', {class: 'quiet'}, ...words);
const cards = (...inside) => make('div', {class: 'cards'}, ...inside);
const plot_of = name => make('div', {class: 'plot', 'data-picture': name});
const plural = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const last = list => list[list.length - 1];

function card(size, title, plot, ...controls) {
  return make('div', {class: `card ${size}`}, make('div', {class: 'head'}, make('h3', {}, title), ...controls), plot);
}

// heads: elements; rows: of each its elements.
function table(heads, rows) {
  return make('div', {class: 'table'}, make('table', {},
    make('thead', {}, make('tr', {}, ...heads)),
    make('tbody', {}, ...rows.map(cells => make('tr', {}, ...cells)))));
}

// A run's colour and mark.
function dot(index) {
  const swatch = make('span', {class: 'picture dot'});
  swatch.innerHTML = `<svg width="12" height="12">${draw.mark(index, 6, 6, 4.6)}</svg>`;
  return swatch;
}

// ---- what is under the pointer

const tip = document.getElementById('tip');

function show_tip(event, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const room = 16;
  const over_the_edge = event.clientX + room + tip.offsetWidth > innerWidth;
  const left = over_the_edge ? event.clientX - room - tip.offsetWidth : event.clientX + room;
  const top = Math.min(event.clientY + room, innerHeight - tip.offsetHeight - 6);
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}
const hide_tip = () => { tip.hidden = true; };

document.addEventListener('pointermove', event => {
  const target = event.target.closest && event.target.closest('[data-tip]');
  if (target) show_tip(event, target.getAttribute('data-tip'));
  else if (!event.target.closest || !event.target.closest('.plot')) hide_tip();
});
document.addEventListener('pointerleave', hide_tip);

// Where the pointer is in a picture's own units.
function place_in(svg, event) {
  const box = svg.getBoundingClientRect();
  return {x: (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width,
          y: (event.clientY - box.top) * svg.viewBox.baseVal.height / box.height};
}

function svg_element(kind, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Has `move(event, over)` called as the pointer moves over the plot's picture; `over`: what lies over it.
function follow_pointer(plot, move) {
  const over = plot.firstElementChild.appendChild(svg_element('g', {}));
  plot.onpointerleave = () => { over.replaceChildren(); hide_tip(); };
  plot.onpointermove = event => move(event, over);
}

// Of each curve the point that is nearest to the pointer, where that is beside the nearest of all.
function points_near(spec, pointer) {
  const away = (at, place) => Math.abs(spec.frame.x(at) - place);
  const nearest = (list, at) =>
    list.reduce((best, one) => away(at(one), pointer) < away(at(best), pointer) ? one : best);
  const found = spec.series.filter(series => series.points.length).map(series => {
    const index = nearest([...series.points.keys()], point => series.points[point][0]);
    return {series, at: series.points[index][0], value: series.points[index][1], drawn: series.drawn[index][1]};
  });
  if (!found.length) return {near: []};
  const {at} = nearest(found, one => one.at);
  return {at, near: found.filter(one => away(one.at, spec.frame.x(at)) < 14)};
}

function row_of_tip(one, at) {
  const smoothed = one.drawn === one.value ? '' : `, smoothed ${draw.short(one.drawn, 4)}`;
  const where = one.at === at ? '' : ` (${draw.short(one.at, 5)})`;
  return make('div', {class: 'row'}, dot(one.series.color), one.series.name + where,
    make('b', {}, draw.short(one.value, 5) + smoothed));
}

// Shows all curves' values at the point that is nearest to the pointer.
function hover_lines(plot, spec) {
  plot.spec = spec;
  follow_pointer(plot, (event, over) => {
    const {at, near} = points_near(spec, place_in(plot.firstElementChild, event).x);
    if (!near.length) return;
    const {x, y, top, bottom} = spec.frame;
    over.replaceChildren(svg_element('line', {class: 'guide', x1: x(at), x2: x(at), y1: top, y2: bottom}));
    for (const {series, at, drawn} of near)
      if (draw.is_number(drawn) && (!spec.log || drawn > 0))
        over.insertAdjacentHTML('beforeend', draw.mark(series.color, x(at), y(drawn), 4));
    const where = spec.x === 'updates' ? `update ${at}` : spec.x === 'hours' ? time_of(at) : `${spec.x} ${at}`;
    show_tip(event, make('b', {}, where),
      ...near.map(one => row_of_tip(one, at)));
  });
}

// Shows who looks at whom, and how much.
function hover_map(plot, spec) {
  plot.spec = spec;
  follow_pointer(plot, (event, over) => {
    const place = place_in(plot.firstElementChild, event);
    const {left, top, size} = spec.frame;
    const key = Math.floor((place.x - left) / size);
    const row = Math.floor((place.y - top) / size);
    if (key < 0 || row < 0 || key >= spec.keys.length || row >= spec.queries.length) return plot.onpointerleave();
    over.replaceChildren(svg_element('rect',
      {class: 'frame', x: left + key * size, y: top + row * size, width: size, height: size}));
    const ran = spec.ran.indexOf(row);
    const looks = `${row}: ${spec.queries[row]}`;
    const seen = `${key}: ${spec.keys[key]}`;
    if (ran < 0) return show_tip(event, make('b', {}, looks), '\nhas halted: it looks at nothing any more');
    if (spec.causal && key > row)
      return show_tip(event, make('b', {}, looks), `\n${seen} comes later: it is not seen`);
    show_tip(event, make('b', {}, (spec.weights[ran][key] / 10000).toFixed(4)),
      `\n${looks}\n→ ${seen}${spec.halted[key] ? '\n(has halted: seen as it ended)' : ''}`);
  });
}

// ---- curves

const curve_cards = [];  // functions that draw a card again: those that chips and smoothing change
const other_cards = [];

function width_of(plot) { return Math.max(300, plot.clientWidth); }

function show_lines(plot, spec) {
  plot.innerHTML = draw.lines(spec);
  hover_lines(plot, spec);
  if (spec.caption && spec.series.some(series => series.dash)) plot.append(quiet(spec.caption));
}

function curve_card(name, size, height, with_log) {
  const plot = plot_of(name);
  const log = make('button', {type: 'button', 'aria-pressed': 'false', click: () => {
    shown.log[name] = !shown.log[name];
    log.setAttribute('aria-pressed', String(shown.log[name]));
    redraw();
  }}, 'log');
  const redraw = () => show_lines(plot, draw.curve_spec(report, name,
    {width: width_of(plot), height, smooth: shown.smooth, log: shown.log[name], hidden: shown.hidden,
     hours: shown.hours}));
  curve_cards.push(redraw);
  return card(size, draw.curves[name].title, plot, with_log ? log : null);
}

function has_curve(name) { return draw.curve_spec(report, name, {}).series.length > 0; }

function show_curves() {
  if (!report.runs.length) return;
  const wide = ['loss', 'score', 'perplexity'].filter(has_curve);
  const size = ['whole', '', 'third'][wide.length - 1];
  const others = ['learning-rate', 'gradient-norm', 'rows-per-second'].filter(has_curve);
  section('curves').append(
    make('h2', {}, 'Training'),
    quiet('The pointer shows values.'),
    cards(...wide.map(name => curve_card(name, size, 330, name !== 'score')),
      ...others.map(name => curve_card(name, 'third', 240, name !== 'rows-per-second'))),
    ...report.runs.flatMap(notes_on));
}

// What a run's curves do not show by themselves.
function notes_on(run) {
  const lost = (run.curves.training.loss || []).filter(point => !draw.is_number(point[1]));
  const say = words => make('p', {class: 'note'}, `${run.name}: ${words}`);
  const notes = [];
  if (lost.length)
    notes.push(say(`the loss was not a number in ${plural(lost.length, 'line')}, first at update ${lost[0][0]}`));
  if (run.left_out) notes.push(say(run.left_out));
  if (run.unreadable) notes.push(say(`${plural(run.unreadable, 'line')} of metrics.jsonl could not be read`));
  if (run.thinned)
    notes.push(quiet(`${run.name}: long curves are thinned out; `,
      'of each stretch the lowest and the highest point are shown.'));
  return notes;
}

// ---- the table of runs

// The numbers of a curve, without its places.
function values_of(run, part, key) {
  return (run.curves[part][key] || []).map(point => point[1]).filter(draw.is_number);
}

function number(value, digits) { return value === undefined ? '' : draw.short(value, digits); }
function percent(value) { return draw.is_number(value) ? draw.percent(value) : ''; }

function time_of(hours) {
  if (!draw.is_number(hours)) return '';
  const [value, unit] = hours < 1 / 60 ? [3600 * hours, 's'] : hours < 1 ? [60 * hours, 'min'] : [hours, 'h'];
  return `${draw.short(value, 3)} ${unit}`;
}

// Of an update's matrix products; where positions that halt take no more part, with as many steps as they took on
// average at the end.
function flop_of(run) {
  const {flops_per_update: bounds, flops_per_step: of_step} = run.sizes;
  if (!bounds) return '';
  const in_flop = value => {
    const thousands = Math.floor(Math.log10(value) / 3);
    return `${draw.short(value / 1000 ** thousands, 3)} ${' kMGTPE'[thousands].trim()}FLOP`;
  };
  if (bounds[0] === bounds[1]) return in_flop(bounds[1]);
  const {halting} = run.settings;
  const leave = {encoder: halting, decoder: run.settings['decoder-halting'] || halting};
  const stacks = Object.keys(run.ponder);
  if (!of_step || !stacks.length || stacks.some(stack => leave[stack] !== 'act-copy'))
    return bounds.map(in_flop).join(' to ');
  return in_flop(Object.entries(run.ponder).reduce(
    (sum, [stack, records]) => sum + (last(records).mean - 1) * of_step[stack], bounds[0]));
}

function best_validation(run) { return percent(Math.max(...values_of(run, 'validation', 'accuracy'))); }

function median(values) { return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]; }

function ponder_times(run) {
  return Object.entries(run.ponder)
    .map(([stack, records]) => `${draw.short(last(records).mean, 3)} ${stack}`).join(', ');
}

function updates_of(run) {
  const points = run.curves.training.loss || [];
  return points.length ? String(last(points)[0]) : '';
}

// Where sequences are scored, the numbers are not those of `ut evaluate`, which has the model decode them.
const has_sequences = draw.curve_spec(report, 'score', {}).series.some(series => series.dash);
const how_scored = has_sequences ? ': symbols\nafter the right ones' : '';

// Name, what it says of a run, and whether that stands at the right.
const columns = [
  ['task', run => run.settings.task || '', false],
  ['halting', run => run.settings.halting || '', false],
  ['parameters', run => number(run.sizes.parameters, 4), true],
  ['an update', flop_of, true],
  ['updates', updates_of, true],
  ['last loss', run => number(last(values_of(run, 'training', 'loss')), 4), true],
  [`best validation${how_scored}`, best_validation, true],
  [`test${how_scored}`, run => percent((run.scores.test || {}).accuracy), true],
  ['ponder time', ponder_times, true],
  ['rows/s', run => number(median(values_of(run, 'training', 'rows_per_s')), 3), true],
  ['time', run => time_of(last(values_of(run, 'training', 'hours'))), true]
];

// A line for each of the things, which its run's mark begins; of the columns those in which one of them says anything.
function table_of_runs(things, columns) {
  const told = columns.filter(([, value]) => things.some(thing => value(thing) !== ''));
  const align = right => right ? {class: 'right'} : {};
  return table(
    [make('th', {}, 'run'), ...told.map(([name, , right]) => make('th', align(right), name))],
    things.map(thing => [make('td', {class: 'name'}, dot(report.runs.indexOf(thing.run)), thing.run.name),
      ...told.map(([, value, right]) => make('td', align(right), value(thing)))]));
}

function show_summary() {
  if (!report.runs.length) return;
  section('summary').append(table_of_runs(report.runs.map(run => ({run})),
    columns.map(([name, value, right]) => [name, ({run}) => value(run), right])));
}

// ---- what `ut evaluate` has found

function how_made({scoring, beam, length_penalty: penalty}) {
  if (scoring === 'teacher-forced') return 'after the right ones';
  if (!scoring) return '';
  return beam > 1 ? `beam ${beam}, length penalty ${penalty}` : 'decoded greedily';
}

function steps_of({encoder_steps: encoder, decoder_steps: decoder}) {
  if (encoder === undefined || decoder === undefined || encoder === decoder) return String(encoder || decoder);
  return `${encoder}, decoder ${decoder}`;
}

function ponder_of({ponder}) {
  return Object.entries(ponder || {}).map(
    ([stack, {mean, sd}]) => `${draw.short(mean, 3)} ± ${draw.short(sd, 2)} ${stack}`).join(', ');
}

const evaluation_columns = [
  ['split', one => one.split || '', false],
  ['of updates', one => (one.updates || []).join(', '), true],
  ['steps', steps_of, true],
  ['symbols', how_made, false],
  ['other than the run', one => Object.entries(one.options || {}).map(change => change.join(' ')).join(', '), false],
  ['examples', one => number(one.sequences, 7), true],
  ['accuracy', one => percent(one.accuracy), true],
  ['whole sequences', one => one.scoring ? percent(one.sequence_accuracy) : '', true],
  ['BLEU', one => number(one.bleu, 4), true],
  ['BLEU, tokenised and split', one => number(one.bleu_tokenised_split, 4), true],
  ['perplexity', one => number(one.perplexity, 4), true],
  ['mean error of tasks', one => percent(one.mean_error), true],
  ['failed tasks', one => one.failed_tasks === undefined ? '' : String(one.failed_tasks), true],
  ['ponder time', ponder_of, true]
];

// Tasks, numbers of attractors, languages: of each what was found.
const group_columns = [
  ...evaluation_columns.slice(0, 4).map(([name, value, right]) => [name, ({evaluation}) => value(evaluation), right]),
  ['group', ({group}) => group, false],
  ...['examples', 'accuracy', 'BLEU', 'ponder time'].map(wanted => {
    const [name, value, right] = evaluation_columns.find(([name]) => name === wanted);
    return [name, ({result}) => value(result), right];
  })
];

function show_evaluations() {
  const all = report.runs.flatMap(run => run.evaluations.map(evaluation => ({run, evaluation})));
  if (!all.length) return;
  const groups = all.flatMap(({run, evaluation}) => Object.entries(evaluation.groups || {}).map(
    ([group, result]) => ({run, evaluation, group, result})));
  section('evaluations').append(make('h2', {}, 'Evaluations'), quiet('What ut evaluate found.'),
    table_of_runs(all, evaluation_columns.map(
      ([name, value, right]) => [name, ({evaluation}) => value(evaluation), right])));
  if (groups.length) section('evaluations').append(make('h3', {}, 'By group'), table_of_runs(groups, group_columns));
}

// ---- ponder times

function show_ponder() {
  const stacks = report.runs.flatMap((run, index) =>
    Object.entries(run.ponder).map(([stack, records]) => ({run: index, stack, records})));
  if (!stacks.length) return;
  const mean = plot_of('ponder');
  curve_cards.push(() => show_lines(mean,
    draw.ponder_spec(report, {width: width_of(mean), height: 250, hidden: shown.hidden, hours: shown.hours})));
  section('ponder').append(
    make('h2', {}, 'Ponder time'),
    quiet('How many steps positions take before they halt, over the batches since the line before.'),
    cards(card('whole', 'Mean over training', mean)),
    ...ponder_at_updates(stacks));
}

// The choice of a run's stack and of an update, and what its positions did then.
function ponder_at_updates(stacks) {
  const histogram = plot_of('ponder-histogram');
  const running = plot_of('running');
  const said = make('output', {});
  const name_of = ({run, stack}) => report.runs.length > 1 ? `${report.runs[run].name}, ${stack}` : stack;
  const choice = make('select',
    {id: 'ponder-of', 'aria-label': 'run and stack', change: () => { to_last(); redraw(); }},
    ...stacks.map((one, index) => make('option', {value: index}, name_of(one))));
  const slider = make('input',
    {type: 'range', id: 'ponder-update', min: 0, step: 1, 'aria-label': 'update', input: () => redraw()});
  const to_last = () => { slider.max = stacks[choice.value].records.length - 1; slider.value = slider.max; };
  const redraw = () => {
    const {run, records} = stacks[choice.value];
    const record = records[slider.value];
    const options = plot => ({width: width_of(plot), height: 240, color: run});
    said.textContent = `update ${record.update}: ${draw.short(record.mean, 3)} ± ${draw.short(record.sd, 2)} steps`;
    histogram.innerHTML = draw.bars(draw.histogram_spec(record, options(histogram)));
    running.innerHTML = draw.bars(draw.running_spec(record, options(running)));
  };
  to_last();
  other_cards.push(redraw);
  return [make('div', {class: 'controls'}, make('div', {}, stacks.length > 1 ? choice : null),
      make('label', {class: 'slider'}, slider, said)),
    cards(card('', 'Steps taken', histogram), card('', 'Positions that still run', running))];
}

// ---- the model at work

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

// ---- attention. view: {example, state: what is chosen, and the elements that show it}

let timer = 0;
function stop_playing() { clearInterval(timer); timer = 0; }

function attention_card(example, state) {
  const names = Object.keys(map_titles).filter(name => example.maps[name]);
  if (!example.maps[state.map]) state.map = names[0];
  const view = {example, state, plot: plot_of('attention'), heads: make('div', {class: 'heads'}),
    layers: make('div', {}), said: make('output', {})};
  view.slider = make('input', {type: 'range', id: 'step', min: 1, step: 1, 'aria-label': 'step',
    input: () => show_step(view, Number(view.slider.value))});
  view.plot.draw = () => start_map(view);
  const maps = choose_one(names.map(name => map_titles[name]), names.indexOf(state.map),
    index => { state.map = names[index]; state.step = 1; start_map(view); });
  const inside = make('div', {},
    make('div', {class: 'controls'}, make('label', {class: 'slider'}, view.slider, view.said),
      make('div', {}, play_button(view)), view.layers),
    make('div', {class: 'attention'}, view.plot, view.heads));
  return card('whole', 'Attention', inside, make('div', {}, ...(names.length > 1 ? maps : [])));
}

function play_button(view) {
  const button = make('button', {type: 'button', click: () => {
    button.textContent = timer ? 'play' : 'stop';
    if (timer) return stop_playing();
    timer = setInterval(() => show_step(view, view.state.step % Number(view.slider.max) + 1), 800);
  }}, 'play');
  return button;
}

// After another map was chosen.
function start_map(view) {
  const {example, state, slider} = view;
  const seen = example.maps[state.map];
  slider.max = Math.max(...seen.map(one => one.step));
  view.most = draw.darkest(example, state.map);
  const layers = [...new Set(seen.map(one => one.layer))];
  const choice = choose_one(layers.map(layer => String(layer + 1)), layers.indexOf(state.layer),
    index => { state.layer = layers[index]; show_map(view); });
  view.layers.replaceChildren(...(layers.length > 1 ? [make('span', {}, 'layer'), ...choice] : []));
  show_step(view, Math.min(state.step, Number(slider.max)));
}

function show_step(view, step) {
  view.state.step = step;
  view.slider.value = step;
  view.said.textContent = `step ${step} of ${view.slider.max}`;
  show_map(view);
}

function show_map(view) {
  const {example, state, plot} = view;
  const spec_of = (head, width) => draw.map_spec(example, state.map, state.step, state.layer, head,
    {most: view.most, color: state.run, width});
  const spec = spec_of(state.head, Math.max(360, plot.parentElement.clientWidth - 290));
  plot.innerHTML = draw.map(spec);
  hover_map(plot, spec);
  const heads = [...example.maps[state.map][0].weights.keys(), -1];
  view.heads.replaceChildren(...choose_one(heads.map(head => head < 0 ? 'mean' : `head ${head + 1}`),
    heads.indexOf(state.head), index => { state.head = heads[index]; show_map(view); }));
  heads.forEach((head, index) => {
    const picture = make('span', {});
    picture.innerHTML = draw.thumbnail(spec_of(head, 100));
    view.heads.children[index].prepend(picture);
  });
}

// ---- scaling

function show_scaling() {
  if (!report.scaling.length) return;
  const plot = plot_of('scaling');
  other_cards.push(() =>
    show_lines(plot, draw.scaling_spec(report, {width: width_of(plot), height: 360, legend: true})));
  section('scaling').append(make('h2', {}, 'Scaling'), cards(make('div', {class: 'card whole'}, plot)),
    ...report.scaling.filter(given => given.rows.length).map(scaling_table));
}

function scaling_table({file, rows}) {
  const names = Object.keys(rows[0]);
  const cell = value => value === null ? '' : typeof value === 'number' ? draw.short(value, 4) : value;
  return make('details', {}, make('summary', {}, file), table(names.map(name => make('th', {}, name)),
    rows.map(row => names.map(name => make('td', {}, cell(row[name]))))));
}

// ---- settings

function settings_table(names) {
  const value = (run, name) =>
    make('td', {}, make('code', {}, run.settings[name] === undefined ? '—' : run.settings[name]));
  if (report.runs.length > names.length)
    return table([make('th', {}, 'run'), ...names.map(name => make('th', {}, name))],
      report.runs.map((run, index) =>
        [make('td', {}, dot(index), ' ', run.name), ...names.map(name => value(run, name))]));
  return table(
    [make('th', {}, 'setting'), ...report.runs.map((run, index) => make('th', {}, dot(index), ' ', run.name))],
    names.map(name => [make('td', {}, name), ...report.runs.map(run => value(run, name))]));
}

function show_settings() {
  if (!report.runs.length) return;
  const names = [...new Set(report.runs.flatMap(run => Object.keys(run.settings)))];
  const different = names.filter(name => new Set(report.runs.map(run => run.settings[name])).size > 1);
  section('settings').append(make('h2', {}, 'Settings'));
  if (different.length)
    section('settings').append(quiet('Those in which the runs differ:'), settings_table(different));
  else if (report.runs.length > 1)
    section('settings').append(quiet('The runs have the same settings.'));
  section('settings').append(
    make('details', {}, make('summary', {}, `all ${names.length} settings`), settings_table(names)));
}

// ---- the whole

const redraw_curves = () => curve_cards.forEach(redraw => redraw());
const redraw_all = () => [...curve_cards, ...other_cards].forEach(redraw => redraw());

function show_head() {
  const runs = report.runs;
  const title = runs.length === 1 ? runs[0].name : runs.length ? plural(runs.length, 'run') : 'Scaling';
  document.title = `${title}: ut report`;
  document.getElementById('title').textContent = title;
  const directories = runs.length > 3 ? [] : runs.map(run => run.directory); // else the chips tell
  document.getElementById('subtitle').textContent = [...directories, report.build].join(' · ');
  if (!runs.length) return document.querySelector('nav').remove();
  document.getElementById('runs').append(...runs.map(chip_of));
  document.getElementById('over').append(...choose_one(['updates', 'hours'], 0, index => {
    shown.hours = index === 1;
    redraw_curves();
  }));
  const smooth = document.getElementById('smooth');
  smooth.addEventListener('input', () => {
    shown.smooth = Number(smooth.value);
    document.getElementById('smooth-value').textContent = String(shown.smooth);
    redraw_curves();
  });
}

// What a run is taken off the curves with.
function chip_of(run, index) {
  const chip = make('button', {type: 'button', 'aria-pressed': 'true', title: run.directory, click: () => {
    shown.hidden[index] = !shown.hidden[index];
    chip.setAttribute('aria-pressed', String(!shown.hidden[index]));
    redraw_curves();
  }}, dot(index), run.name);
  return chip;
}

function show_theme() {
  const button = document.getElementById('theme');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  const apply = () => {
    const theme = chosen || (dark.matches ? 'dark' : 'light');
    document.documentElement.setAttribute('data-theme', theme);
    button.textContent = theme === 'dark' ? 'light' : 'dark';
  };
  button.addEventListener('click', () => { chosen = button.textContent; apply(); });
  dark.addEventListener('change', apply);
  apply();
}

show_theme();
show_head();
show_summary();
show_evaluations();
show_curves();
show_ponder();
show_inside();
show_scaling();
show_settings();
redraw_all();
let resized = 0;
addEventListener('resize', () => { cancelAnimationFrame(resized); resized = requestAnimationFrame(redraw_all); });
