// Curves of training.

// Functions that draw a card again. The first list has the cards that the controls at the page's top change.
const curve_redraws = [];
const other_redraws = [];

function width_of(plot) { return Math.max(300, plot.clientWidth); }

function show_lines(plot, spec) {
  plot.innerHTML = draw.line_chart(spec);
  hover_lines(plot, spec);
  if (spec.caption && spec.series.some(series => series.dash)) plot.append(quiet(spec.caption));
}

function curve_card(name, size, height, with_log) {
  const plot = make_plot(name);
  const log = make('button', {type: 'button', 'aria-pressed': 'false', click: () => {
    display.log[name] = !display.log[name];
    log.setAttribute('aria-pressed', String(display.log[name]));
    redraw();
  }}, 'log');
  const redraw = () => show_lines(plot, draw.curve_spec(report, name,
    {width: width_of(plot), height, smooth: display.smooth, log: display.log[name], hidden: display.hidden,
     hours: display.hours}));
  curve_redraws.push(redraw);
  return card(size, draw.curve_kinds[name].title, plot, with_log ? log : null);
}

function has_curve(name) { return draw.curve_spec(report, name, {}).series.length > 0; }

// False if all runs are imported and none has been trained further.
function has_curves() { return Object.keys(draw.curve_kinds).some(has_curve); }

function show_curves() {
  if (!report.runs.length) return;
  const main = ['loss', 'score', 'perplexity', 'bleu'].filter(has_curve);
  const size = ['whole', '', 'third', ''][main.length - 1];
  const others = ['learning-rate', 'gradient-norm', 'rows-per-second'].filter(has_curve);
  if (has_curves()) section('curves').append(
    make('h2', {}, 'Training'),
    quiet('Move the pointer over a picture to see its values.'),
    cards(...main.map(name => curve_card(name, size, 330, name !== 'score')),
      ...others.map(name => curve_card(name, 'third', 240, name !== 'rows-per-second'))));
  section('curves').append(...report.runs.flatMap(notes_on));
}

// Facts about a run that its curves do not show.
function notes_on(run) {
  const say = words => make('p', {class: 'note'}, `${run.name}: ${words}`);
  const notes = [];
  if (run.not_finite) {
    const {lines, first} = run.not_finite;
    notes.push(say(`the loss was not finite in ${plural(lines, 'line')}, first at update ${first}`));
  }
  if (run.left_out) notes.push(say(run.left_out));
  if (run.unreadable) notes.push(say(`${plural(run.unreadable, 'line')} of metrics.jsonl could not be read`));
  if (run.thinned)
    notes.push(quiet(`${run.name}: long curves are thinned out: `,
      'of each stretch, only the lowest and the highest point are shown (of ponder times, one point).'));
  return notes;
}
