// Scaling.

function show_scaling() {
  if (!report.scaling.length) return;
  const plot = make_plot('scaling');
  other_redraws.push(() =>
    show_lines(plot, draw.scaling_spec(report, {width: width_of(plot), height: 360, legend: true})));
  section('scaling').append(make('h2', {}, 'Scaling'), cards(make('div', {class: 'card whole'}, plot)),
    ...report.scaling.filter(({rows}) => rows.length).map(scaling_table));
}

function scaling_table({file, rows}) {
  const names = Object.keys(rows[0]);
  const cell = value => value === null ? '' : typeof value === 'number' ? draw.format_number(value, 4) : value;
  return make('details', {}, make('summary', {}, file), table(names.map(name => make('th', {}, name)),
    rows.map(row => names.map(name => make('td', {}, cell(row[name]))))));
}
