// The table of runs.

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

function halting_kinds({settings}) {
  return {encoder: settings.halting, decoder: settings['decoder-halting'] || settings.halting};
}

// Of the stacks that halt.
function halting_of(run) {
  const kinds = halting_kinds(run);
  const stacks = Object.keys(run.ponder);
  if (!stacks.length) return kinds.encoder || '';
  const same = stacks.every(stack => kinds[stack] === kinds[stacks[0]]);
  return same ? kinds[stacks[0]] || '' : stacks.map(stack => `${kinds[stack]} ${stack}`).join(', ');
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
  const leave = halting_kinds(run);
  const stacks = Object.keys(run.ponder);
  if (!of_step || !stacks.length || stacks.some(stack => leave[stack] !== 'act-copy'))
    return bounds.map(in_flop).join(' to ');
  return in_flop(Object.entries(run.ponder).reduce(
    (sum, [stack, records]) => sum + (last(records).mean - 1) * of_step[stack], bounds[0]));
}

function best_validation(run) { return percent(Math.max(...values_of(run, 'validation', 'accuracy'))); }

function best_bleu(run) {
  const values = values_of(run, 'validation', 'bleu');
  return values.length ? number(Math.max(...values), 4) : '';
}

function ponder_times(run) {
  return Object.entries(run.ponder)
    .map(([stack, records]) => `${draw.short(last(records).mean, 3)} ${stack}`).join(', ');
}

function updates_of(run) {
  const points = run.curves.training.loss || [];
  return points.length ? String(last(points)[0]) : '';
}

// Where sequences are scored, the numbers may not be those of `ut evaluate`, which has the model decode them.
const has_sequences = draw.curve_spec(report, 'score', {}).series.some(series => series.dash);
const are_decoded = new Set(report.runs.map(run => run.settings['evaluation-scoring'] === 'decoded'));
const ways = are_decoded.size > 1 ? 'see evaluation-scoring'
  : are_decoded.has(true) ? 'decoded' : 'after the right ones';
const how_scored = has_sequences ? ': symbols\n' + ways : '';

// Name, what it says of a run, and whether that stands at the right.
const columns = [
  ['task', run => run.settings.task || '', false],
  ['halting', halting_of, false],
  ['parameters', run => number(run.sizes.parameters, 4), true],
  ['an update', flop_of, true],
  ['updates', updates_of, true],
  ['last loss', run => number(last(values_of(run, 'training', 'loss')), 4), true],
  [`best validation${how_scored}`, best_validation, true],
  [`test${how_scored}`, run => percent((run.scores.test || {}).accuracy), true],
  ['best BLEU', best_bleu, true],
  ['test BLEU', run => number((run.scores.test || {}).bleu, 4), true],
  ['ponder time', ponder_times, true],
  ['rows/s', run => number(run.rows_per_s, 3), true],
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
