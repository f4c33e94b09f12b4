// The page: what is shown of the report, and what moves. Pictures are draw.js's.
'use strict';
const report = JSON.parse(document.getElementById('report').textContent);
const shown = {hidden: {}, smooth: 0, log: {}};
const colour_count = 8;

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
const dot = index => {
  const swatch = make('span', {class: 'picture dot'});
  swatch.innerHTML = `<svg width="10" height="10"><rect width="10" height="10" rx="3" class="f${index % colour_count}"/></svg>`;
  return swatch;
};
const plural = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const last = list => list[list.length - 1];

// ---- what is under the pointer

const tip = document.getElementById('tip');

function show_tip(event, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const room = 16;
  const left = event.clientX + room + tip.offsetWidth > innerWidth ? event.clientX - room - tip.offsetWidth : event.clientX + room;
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

// Shows all curves' values at the point that is nearest to the pointer.
function hover_lines(plot, spec) {
  const svg = plot.firstElementChild;
  plot.spec = spec;
  const over = svg.appendChild(svg_element('g', {}));
  plot.onpointerleave = () => { over.replaceChildren(); hide_tip(); };
  plot.onpointermove = event => {
    const {x} = place_in(svg, event);
    const nearest = points => points.reduce((best, point, index) =>
      Math.abs(spec.frame.x(point[0]) - x) < Math.abs(spec.frame.x(points[best][0]) - x) ? index : best, 0);
    const found = spec.series.filter(series => series.points.length).map(series => {
      const index = nearest(series.points);
      return {series, at: series.points[index][0], value: series.points[index][1], drawn: series.drawn[index][1]};
    });
    if (!found.length) return;
    const at = found.reduce((best, one) =>
      Math.abs(spec.frame.x(one.at) - x) < Math.abs(spec.frame.x(best) - x) ? one.at : best, found[0].at);
    const near = found.filter(one => Math.abs(spec.frame.x(one.at) - spec.frame.x(at)) < 14);
    over.replaceChildren(svg_element('line', {class: 'guide', x1: spec.frame.x(at), x2: spec.frame.x(at), y1: spec.frame.top, y2: spec.frame.bottom}));
    for (const one of near)
      if (draw.is_number(one.drawn) && (!spec.log || one.drawn > 0))
        over.append(svg_element('circle', {class: `mark f${one.series.color % colour_count}`, r: 4, cx: spec.frame.x(one.at), cy: spec.frame.y(one.drawn)}));
    show_tip(event, make('b', {}, `${spec.x === 'updates' ? 'update' : spec.x} ${at}`), ...near.map(one =>
      make('div', {class: 'row'}, dot(one.series.color), one.series.name + (one.at === at ? '' : ` (${one.at})`),
        make('b', {}, draw.short(one.value, 5) + (one.drawn === one.value ? '' : `, smoothed ${draw.short(one.drawn, 4)}`)))));
  };
}

// Shows who looks at whom, and how much.
function hover_map(plot, spec) {
  const svg = plot.firstElementChild;
  plot.spec = spec;
  const over = svg.appendChild(svg_element('g', {}));
  const leave = () => { over.replaceChildren(); hide_tip(); };
  plot.onpointerleave = leave;
  plot.onpointermove = event => {
    const place = place_in(svg, event);
    const {left, top, size} = spec.frame;
    const key = Math.floor((place.x - left) / size);
    const row = Math.floor((place.y - top) / size);
    if (key < 0 || row < 0 || key >= spec.keys.length || row >= spec.queries.length) return leave();
    over.replaceChildren(svg_element('rect', {class: 'frame', x: left + key * size, y: top + row * size, width: size, height: size}));
    const ran = spec.ran.indexOf(row);
    const looks = `${row}: ${spec.queries[row]}`;
    if (ran < 0) return show_tip(event, make('b', {}, looks), '\nhas halted: it looks at nothing any more');
    if (spec.causal && key > row) return show_tip(event, make('b', {}, looks), `\n${key}: ${spec.keys[key]} comes later: it is not seen`);
    show_tip(event, make('b', {}, (spec.weights[ran][key] / 10000).toFixed(4)),
      `\n${looks}\n→ ${key}: ${spec.keys[key]}${spec.halted[key] ? '\n(has halted: seen as it ended)' : ''}`);
  };
}

// ---- curves

const curve_cards = [];  // functions that draw a card again: those that chips and smoothing change
const other_cards = [];

function width_of(plot) { return Math.max(300, plot.clientWidth); }

function curve_card(name, size, height, with_log) {
  const plot = make('div', {class: 'plot', 'data-picture': name});
  const log = make('button', {type: 'button', 'aria-pressed': 'false', click: () => {
    shown.log[name] = !shown.log[name];
    log.setAttribute('aria-pressed', String(shown.log[name]));
    redraw();
  }}, 'log');
  const redraw = () => {
    const spec = draw.curve_spec(report, name, {width: width_of(plot), height, smooth: shown.smooth, log: shown.log[name], hidden: shown.hidden});
    plot.innerHTML = draw.lines(spec);
    hover_lines(plot, spec);
  };
  curve_cards.push(redraw);
  return make('div', {class: `card ${size}`}, make('div', {class: 'head'}, make('h3', {}, draw.curves[name].title), with_log ? log : null), plot);
}

function has_curve(name) { return draw.curve_spec(report, name, {width: 1, height: 1}).series.length > 0; }

function show_curves() {
  if (!report.runs.length) return;
  const several = ['learning-rate', 'gradient-norm', 'rows-per-second'].filter(has_curve);
  const wide = ['loss', 'score'].filter(has_curve);
  section('curves').append(make('h2', {}, 'Training'), make('p', {class: 'quiet'}, 'Solid: training; dashed with dots: validation. The pointer shows values.'),
    make('div', {class: 'cards'}, ...wide.map(name => curve_card(name, wide.length > 1 ? '' : 'whole', 330, name === 'loss')),
      ...several.map(name => curve_card(name, 'third', 240, name === 'gradient-norm' || name === 'learning-rate'))));
  for (const run of report.runs) {
    const points = run.curves.training.loss || [];
    const lost = points.filter(point => !draw.is_number(point[1]));
    const say = words => section('curves').append(make('p', {class: 'note'}, `${run.name}: ${words}`));
    if (lost.length) say(`the loss was not a number in ${plural(lost.length, 'line')}, first at update ${lost[0][0]}`);
    if (run.unreadable) say(`${plural(run.unreadable, 'line')} of metrics.jsonl could not be read`);
    if (run.thinned) section('curves').append(make('p', {class: 'quiet'}, `${run.name}: long curves are thinned out; of each stretch the lowest and the highest point are shown.`));
  }
}

// ---- the table of runs

function value_at_end(run, part, key) {
  const points = (run.curves[part][key] || []).filter(point => draw.is_number(point[1]));
  return points.length ? last(points)[1] : undefined;
}

function show_summary() {
  if (!report.runs.length) return;
  const best = run => {
    const points = (run.curves.validation.accuracy || []).filter(point => draw.is_number(point[1]));
    return points.length ? Math.max(...points.map(point => point[1])) : undefined;
  };
  const median = run => {
    const values = (run.curves.training.rows_per_s || []).map(point => point[1]).filter(draw.is_number).sort((a, b) => a - b);
    return values.length ? values[Math.floor(values.length / 2)] : undefined;
  };
  const ponder = run => Object.entries(run.ponder).map(([stack, records]) => `${draw.short(last(records).mean, 3)} ${stack}`).join(', ');
  const number = (value, digits) => value === undefined ? '' : draw.short(value, digits || 4);
  const columns = [
    ['task', run => run.settings.task || '', false],
    ['halting', run => run.settings.halting || '', false],
    ['updates', run => { const points = run.curves.training.loss || []; return points.length ? String(last(points)[0]) : ''; }, true],
    ['last loss', run => number(value_at_end(run, 'training', 'loss')), true],
    ['best validation', run => best(run) === undefined ? '' : draw.percent(best(run)), true],
    ['test', run => run.scores.test && draw.is_number(run.scores.test.accuracy) ? draw.percent(run.scores.test.accuracy) : '', true],
    ['ponder time', ponder, true],
    ['rows/s', run => number(median(run), 3), true],
    ['hours', run => number(value_at_end(run, 'training', 'hours'), 3), true]
  ].filter(([, value]) => report.runs.some(run => value(run) !== ''));
  const align = right => right ? {class: 'right'} : {};
  section('summary').append(make('div', {class: 'table'}, make('table', {},
    make('thead', {}, make('tr', {}, make('th', {}, 'run'), ...columns.map(([name, , right]) => make('th', align(right), name)))),
    make('tbody', {}, ...report.runs.map((run, index) => make('tr', {},
      make('td', {class: 'name'}, dot(index), run.name), ...columns.map(([, value, right]) => make('td', align(right), value(run)))))))));
}

// ---- ponder times

function show_ponder() {
  const kinds = [];  // [run, stack]
  report.runs.forEach((run, index) => Object.keys(run.ponder).forEach(stack => kinds.push([index, stack])));
  if (!kinds.length) return;
  const several = report.runs.length > 1;
  const choice = make('select', {id: 'ponder-of', 'aria-label': 'run and stack', change: () => { restart(); redraw(); }}, ...kinds.map(([run, stack], index) =>
    make('option', {value: index}, several ? `${report.runs[run].name}, ${stack}` : stack)));
  const slider = make('input', {type: 'range', id: 'ponder-update', min: 0, step: 1, 'aria-label': 'update', input: () => redraw()});
  const said = make('output', {});
  const mean = make('div', {class: 'plot', 'data-picture': 'ponder'});
  const histogram = make('div', {class: 'plot', 'data-picture': 'ponder-histogram'});
  const running = make('div', {class: 'plot', 'data-picture': 'running'});
  const records = () => { const [run, stack] = kinds[choice.value]; return report.runs[run].ponder[stack]; };
  const restart = () => { slider.max = records().length - 1; slider.value = slider.max; };
  const redraw = () => {
    const spec = draw.ponder_spec(report, {width: width_of(mean), height: 250, hidden: shown.hidden});
    mean.innerHTML = draw.lines(spec);
    hover_lines(mean, spec);
    const record = records()[slider.value];
    const color = kinds[choice.value][0];
    said.textContent = `update ${record.update}: ${draw.short(record.mean, 3)} ± ${draw.short(record.sd, 2)} steps`;
    histogram.innerHTML = draw.bars(draw.histogram_spec(record, {width: width_of(histogram), height: 240, color}));
    running.innerHTML = draw.bars(draw.running_spec(record, {width: width_of(running), height: 240, color}));
  };
  restart();
  curve_cards.push(redraw);
  section('ponder').append(make('h2', {}, 'Ponder time'),
    make('p', {class: 'quiet'}, 'How many steps positions take before they halt, over the batches since the line before.'),
    make('div', {class: 'cards'}, make('div', {class: 'card whole'}, make('div', {class: 'head'}, make('h3', {}, 'Mean over training')), mean)),
    make('div', {class: 'controls'}, make('div', {}, kinds.length > 1 ? choice : null), make('label', {class: 'slider'}, slider, said)),
    make('div', {class: 'cards'},
      make('div', {class: 'card'}, make('div', {class: 'head'}, make('h3', {}, 'Steps taken')), histogram),
      make('div', {class: 'card'}, make('div', {class: 'head'}, make('h3', {}, 'Positions that still run')), running)));
}

// ---- the model at work

// Buttons of which one is pressed; `choose(index)` on a click.
function choose_one(names, chosen, choose) {
  const buttons = names.map((name, index) => make('button', {type: 'button', 'aria-pressed': String(index === chosen), click: () => {
    buttons.forEach((button, other) => button.setAttribute('aria-pressed', String(other === index)));
    choose(index);
  }}, name));
  return buttons;
}

const map_titles = {encoder: 'encoder over itself', decoder: 'decoder over itself', source: 'decoder over the source'};

function show_inside() {
  const runs = report.runs.map((run, index) => index).filter(index => report.runs[index].model);
  if (!runs.length) return;
  const body = make('div', {});
  const state = {run: runs[0], example: 0, map: 'encoder', head: 0, step: 1, layer: 0};
  const show = () => show_example(body, state);
  section('inside').append(make('h2', {}, 'The model at work'),
    make('p', {class: 'quiet'}, `Examples of the ${report.split} split; decoders are given the right symbols before each.`));
  if (runs.length > 1) {
    const pick = make('select', {id: 'model-of', 'aria-label': 'run', change: () => { Object.assign(state, {run: Number(pick.value), example: 0, map: 'encoder', head: 0, step: 1, layer: 0}); show(); }},
      ...runs.map(index => make('option', {value: index}, report.runs[index].name)));
    section('inside').append(make('div', {class: 'controls'}, make('div', {}, make('span', {}, 'run'), pick)));
  }
  section('inside').append(body);
  other_cards.push(show);
}

function show_example(body, state) {
  stop_playing();
  const model = report.runs[state.run].model;
  const example = model.examples[state.example];
  const joined = symbols => symbols.join(' ');
  const right = joined(example.said) === joined(example.wanted);
  const examples = choose_one(model.examples.map(one => String(one.number)), state.example, index => { state.example = index; show_example(body, state); });
  const parts = [
    make('div', {class: 'controls'}, make('div', {}, make('span', {}, 'example'), ...examples), make('span', {}, `checkpoint ${model.checkpoint}`)),
    make('div', {class: 'card whole'}, make('div', {class: 'given'}, example.source.join(' · ')),
      make('p', {}, 'wanted ', make('b', {}, joined(example.wanted)), ' — the model says ', make('span', {class: right ? 'right-answer' : 'wrong-answer'}, joined(example.said))))];
  const pondered = Object.keys(example.stacks).filter(stack => example.stacks[stack].halting);
  const grid = make('div', {class: 'cards'}, ...parts.splice(1));
  for (const stack of pondered) {
    const plot = make('div', {class: 'plot', 'data-picture': 'ponder-words'});
    grid.append(make('div', {class: 'card whole'}, make('div', {class: 'head'}, make('h3', {}, `Ponder time of each position, ${stack}`)), plot));
    plot.draw = () => { plot.innerHTML = draw.words(draw.words_spec(example, stack, {width: width_of(plot), color: state.run})); };
  }
  grid.append(attention_card(example, state));
  body.replaceChildren(...parts, grid);
  body.querySelectorAll('.plot').forEach(plot => plot.draw());
}

let timer = 0;
function stop_playing() { clearInterval(timer); timer = 0; }

function attention_card(example, state) {
  const names = Object.keys(map_titles).filter(name => example.maps[name]);
  if (!example.maps[state.map]) state.map = names[0];
  const plot = make('div', {class: 'plot', 'data-picture': 'attention'});
  const thumbnails = make('div', {class: 'heads'});
  const said = make('output', {});
  const slider = make('input', {type: 'range', id: 'step', min: 1, step: 1, 'aria-label': 'step', input: () => { state.step = Number(slider.value); redraw(); }});
  const play = make('button', {type: 'button', click: () => {
    if (timer) { stop_playing(); play.textContent = 'play'; return; }
    play.textContent = 'stop';
    timer = setInterval(() => { slider.value = Number(slider.value) % Number(slider.max) + 1; state.step = Number(slider.value); redraw(); }, 800);
  }}, 'play');
  const layers = make('div', {});
  const restart = () => {
    const seen = example.maps[state.map];
    slider.max = Math.max(...seen.map(one => one.step));
    state.step = Math.min(state.step, Number(slider.max));
    slider.value = state.step;
    const count = 1 + Math.max(...seen.map(one => one.layer));
    layers.replaceChildren(...(count > 1 ? [make('span', {}, 'layer'), ...choose_one([...Array(count).keys()].map(layer => String(layer + 1)), state.layer, layer => { state.layer = layer; redraw(); })] : []));
    plot.most = draw.darkest(example, state.map);
  };
  const spec_of = (head, width) => draw.map_spec(example, state.map, state.step, state.layer, head, {most: plot.most, color: state.run, width});
  const redraw = () => {
    said.textContent = `step ${state.step} of ${slider.max}`;
    const spec = spec_of(state.head, Math.max(360, plot.parentElement.clientWidth - 290));
    plot.innerHTML = draw.map(spec);
    hover_map(plot, spec);
    const heads = example.maps[state.map][0].weights.length;
    const numbers = [...Array(heads).keys(), -1];
    thumbnails.replaceChildren(...choose_one(numbers.map(head => head < 0 ? 'mean' : `head ${head + 1}`), numbers.indexOf(state.head), index => { state.head = numbers[index]; redraw(); }));
    numbers.forEach((head, index) => {
      const picture = make('span', {});
      picture.innerHTML = draw.thumbnail(spec_of(head, 100));
      thumbnails.children[index].prepend(picture);
    });
  };
  plot.draw = () => { restart(); redraw(); };
  const which = choose_one(names.map(name => map_titles[name]), names.indexOf(state.map), index => { state.map = names[index]; state.step = 1; restart(); redraw(); });
  return make('div', {class: 'card whole'}, make('div', {class: 'head'}, make('h3', {}, 'Attention'), make('div', {}, ...(names.length > 1 ? which : []))),
    make('div', {class: 'controls'}, make('label', {class: 'slider'}, slider, said), make('div', {}, play), layers),
    make('div', {class: 'attention'}, plot, thumbnails));
}

// ---- scaling

function show_scaling() {
  if (!report.scaling.length) return;
  const plot = make('div', {class: 'plot', 'data-picture': 'scaling'});
  const redraw = () => {
    const spec = draw.scaling_spec(report, {width: width_of(plot), height: 360, legend: true});
    plot.innerHTML = draw.lines(spec);
    hover_lines(plot, spec);
  };
  other_cards.push(redraw);
  section('scaling').append(make('h2', {}, 'Scaling'), make('div', {class: 'cards'}, make('div', {class: 'card whole'}, plot)));
  for (const table of report.scaling) {
    if (!table.rows.length) continue;
    const columns = Object.keys(table.rows[0]);
    const cell = value => value === null ? '' : typeof value === 'number' ? draw.short(value, 4) : value;
    section('scaling').append(make('details', {}, make('summary', {}, table.file), make('div', {class: 'table'}, make('table', {},
      make('thead', {}, make('tr', {}, ...columns.map(name => make('th', {}, name)))),
      make('tbody', {}, ...table.rows.map(row => make('tr', {}, ...columns.map(name => make('td', {}, cell(row[name]))))))))));
  }
}

// ---- settings

function settings_table(names) {
  return make('div', {class: 'table'}, make('table', {},
    make('thead', {}, make('tr', {}, make('th', {}, 'setting'), ...report.runs.map((run, index) => make('th', {}, dot(index), ' ', run.name)))),
    make('tbody', {}, ...names.map(name => make('tr', {}, make('td', {}, name),
      ...report.runs.map(run => make('td', {}, make('code', {}, run.settings[name] === undefined ? '—' : run.settings[name]))))))));
}

function show_settings() {
  if (!report.runs.length) return;
  const names = [...new Set(report.runs.flatMap(run => Object.keys(run.settings)))];
  const different = names.filter(name => new Set(report.runs.map(run => run.settings[name])).size > 1);
  section('settings').append(make('h2', {}, 'Settings'));
  if (report.runs.length > 1)
    section('settings').append(make('p', {class: 'quiet'}, different.length ? 'Those in which the runs differ:' : 'The runs have the same settings.'),
      different.length ? settings_table(different) : '');
  section('settings').append(make('details', {}, make('summary', {}, `all ${names.length} settings`), settings_table(names)));
}

// ---- the whole

const redraw_curves = () => curve_cards.forEach(redraw => redraw());
const redraw_all = () => [...curve_cards, ...other_cards].forEach(redraw => redraw());

function show_head() {
  const runs = report.runs;
  document.title = runs.length === 1 ? `${runs[0].name}: ut report` : runs.length ? `${runs.length} runs: ut report` : 'Scaling: ut report';
  document.getElementById('title').textContent = runs.length === 1 ? runs[0].name : runs.length ? plural(runs.length, 'run') : 'Scaling';
  document.getElementById('subtitle').textContent = [...runs.map(run => run.directory), report.build].join(' · ');
  if (!runs.length) document.querySelector('nav').remove();
  document.getElementById('runs').append(...runs.map((run, index) => {
    const chip = make('button', {type: 'button', 'aria-pressed': 'true', title: run.directory, click: () => {
      shown.hidden[index] = !shown.hidden[index];
      chip.setAttribute('aria-pressed', String(!shown.hidden[index]));
      redraw_curves();
    }}, dot(index), run.name);
    return chip;
  }));
  const smooth = document.getElementById('smooth');
  smooth.addEventListener('input', () => {
    shown.smooth = Number(smooth.value);
    document.getElementById('smooth-value').textContent = String(shown.smooth);
    redraw_curves();
  });
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
  button.addEventListener('click', () => { chosen = document.documentElement.getAttribute('data-theme') === 'dark' ? 'light' : 'dark'; apply(); });
  dark.addEventListener('change', apply);
  apply();
}

show_theme();
show_head();
show_summary();
show_curves();
show_ponder();
show_inside();
show_scaling();
show_settings();
redraw_all();
let resized = 0;
addEventListener('resize', () => { cancelAnimationFrame(resized); resized = requestAnimationFrame(redraw_all); });
