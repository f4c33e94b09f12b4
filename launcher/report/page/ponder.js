// Ponder times.

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
