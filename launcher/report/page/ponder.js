// Ponder times.

function show_ponder() {
  const stacks = report.runs.flatMap((run, index) =>
    Object.entries(run.ponder).map(([stack, records]) => ({run: index, stack, records})));
  if (!stacks.length) return;
  const mean = make_plot('ponder');
  curve_redraws.push(() => show_lines(mean,
    draw.ponder_spec(report, {width: width_of(mean), height: 250, hidden: display.hidden, hours: display.hours})));
  section('ponder').append(
    make('h2', {}, 'Ponder time'),
    quiet('How many steps positions take before they halt, over the batches since the previous line of metrics.jsonl.'),
    cards(card('whole', 'Mean over training', mean)),
    ...ponder_at_updates(stacks));
}

// Controls that select a run's stack and an update, and the pictures of ponder times at that update.
function ponder_at_updates(stacks) {
  const histogram = make_plot('ponder-histogram');
  const running = make_plot('running');
  const update_label = make('output', {});
  const name_of = ({run, stack}) => report.runs.length > 1 ? `${report.runs[run].name}, ${stack}` : stack;
  const stack_select = make('select',
    {id: 'ponder-of', 'aria-label': 'run and stack', change: () => { go_to_last(); redraw(); }},
    ...stacks.map((one, index) => make('option', {value: index}, name_of(one))));
  const slider = make('input',
    {type: 'range', id: 'ponder-update', min: 0, step: 1, 'aria-label': 'update', input: () => redraw()});
  const go_to_last = () => { slider.max = stacks[stack_select.value].records.length - 1; slider.value = slider.max; };
  const redraw = () => {
    const {run, records} = stacks[stack_select.value];
    const record = records[slider.value];
    const options = plot => ({width: width_of(plot), height: 240, color: run});
    const spread = `${draw.format_number(record.mean, 3)} ± ${draw.format_number(record.sd, 2)}`;
    update_label.textContent = `update ${record.update}: ${spread} steps`;
    histogram.innerHTML = draw.bar_chart(draw.histogram_spec(record, options(histogram)));
    running.innerHTML = draw.bar_chart(draw.running_spec(record, options(running)));
  };
  go_to_last();
  other_redraws.push(redraw);
  return [make('div', {class: 'controls'}, make('div', {}, stacks.length > 1 ? stack_select : null),
      make('label', {class: 'slider'}, slider, update_label)),
    cards(card('', 'Steps taken', histogram), card('', 'Positions still running', running))];
}
