// Curves of training.

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
  const wide = ['loss', 'score', 'perplexity', 'bleu'].filter(has_curve);
  const size = ['whole', '', 'third', ''][wide.length - 1];
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
  const say = words => make('p', {class: 'note'}, `${run.name}: ${words}`);
  const notes = [];
  if (run.not_finite) {
    const {lines, first} = run.not_finite;
    notes.push(say(`the loss was not a number in ${plural(lines, 'line')}, first at update ${first}`));
  }
  if (run.left_out) notes.push(say(run.left_out));
  if (run.unreadable) notes.push(say(`${plural(run.unreadable, 'line')} of metrics.jsonl could not be read`));
  if (run.thinned)
    notes.push(quiet(`${run.name}: long curves are thinned out; `,
      'of each stretch the lowest and the highest point are shown, of ponder times one.'));
  return notes;
}
