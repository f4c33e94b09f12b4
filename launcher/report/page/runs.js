// The table of runs.

// The finite y values of a curve.
function values_of(run, part, key) {
  return (run.curves[part][key] || []).map(point => point[1]).filter(draw.is_number);
}

// Texts of table cells are empty if there is no value.
function number_text(value, digits) { return value === undefined ? '' : draw.format_number(value, digits); }
function percent_text(value) { return draw.is_number(value) ? draw.format_percent(value) : ''; }

function time_of(hours) {
  if (!draw.is_number(hours)) return '';
  const [value, unit] = hours < 1 / 60 ? [3600 * hours, 's'] : hours < 1 ? [60 * hours, 'min'] : [hours, 'h'];
  return `${draw.format_number(value, 3)} ${unit}`;
}

function halting_kinds({settings}) {
  return {encoder: settings.halting, decoder: settings['decoder-halting'] || settings.halting};
}

// The halting of the stacks that halt.
function halting_of(run) {
  const kinds = halting_kinds(run);
  const stacks = Object.keys(run.ponder);
  if (!stacks.length) return kinds.encoder || '';
  const same = stacks.every(stack => kinds[stack] === kinds[stacks[0]]);
  return same ? kinds[stacks[0]] || '' : stacks.map(stack => `${kinds[stack]} ${stack}`).join(', ');
}

// FLOPs of an update's matrix products. If halted positions leave the computation (act-copy), these are the FLOPs at
// the last mean ponder times, otherwise a range from one step to the most.
function flops_of(run) {
  const {flops_per_update: bounds, flops_per_step: per_step} = run.sizes;
  if (!bounds) return '';
  const with_unit = value => {
    const thousands = Math.floor(Math.log10(value) / 3);
    return `${draw.format_number(value / 1000 ** thousands, 3)} ${' kMGTPE'[thousands].trim()}FLOP`;
  };
  if (bounds[0] === bounds[1]) return with_unit(bounds[1]);
  const kinds = halting_kinds(run);
  const stacks = Object.keys(run.ponder);
  if (!per_step || !stacks.length || stacks.some(stack => kinds[stack] !== 'act-copy'))
    return bounds.map(with_unit).join(' to ');
  return with_unit(Object.entries(run.ponder).reduce(
    (sum, [stack, records]) => sum + (last(records).mean - 1) * per_step[stack], bounds[0]));
}

function best_validation(run) { return percent_text(Math.max(...values_of(run, 'validation', 'accuracy'))); }

function best_bleu(run) {
  const values = values_of(run, 'validation', 'bleu');
  return values.length ? number_text(Math.max(...values), 4) : '';
}

function ponder_times(run) {
  return Object.entries(run.ponder)
    .map(([stack, records]) => `${draw.format_number(last(records).mean, 3)} ${stack}`).join(', ');
}

function updates_of(run) {
  const points = run.curves.training.loss || [];
  return points.length ? String(last(points)[0]) : '';
}

// The column heads say how training scored sequences, because `ut evaluate` decodes and may find other scores.
const has_sequences = draw.curve_spec(report, 'score', {}).series.some(series => series.dash);
const decoded_values = new Set(report.runs.map(run => run.settings['evaluation-scoring'] === 'decoded'));
const training_scoring = decoded_values.size > 1 ? 'see evaluation-scoring'
  : decoded_values.has(true) ? 'decoded' : 'teacher-forced';
const score_suffix = has_sequences ? `\n(symbols, ${training_scoring})` : '';

// [name, its text for a run, whether it is aligned right]
const run_columns = [
  ['task', run => run.settings.task || '', false],
  ['halting', halting_of, false],
  ['parameters', run => number_text(run.sizes.parameters, 4), true],
  ['FLOPs per update', flops_of, true],
  ['updates', updates_of, true],
  ['last loss', run => number_text(last(values_of(run, 'training', 'loss')), 4), true],
  [`best validation accuracy${score_suffix}`, best_validation, true],
  [`test accuracy${score_suffix}`, run => percent_text((run.scores.test || {}).accuracy), true],
  ['best BLEU', best_bleu, true],
  ['test BLEU', run => number_text((run.scores.test || {}).bleu, 4), true],
  ['ponder time', ponder_times, true],
  ['rows/s', run => number_text(run.rows_per_s, 3), true],
  ['time', run => time_of(last(values_of(run, 'training', 'hours'))), true]
];

// A table with a row per entry, which begins with the mark and the name of entry.run. Columns that are empty in all
// rows are left out.
function table_of_runs(entries, columns) {
  const filled = columns.filter(([, value]) => entries.some(entry => value(entry) !== ''));
  const align = right => right ? {class: 'right'} : {};
  return table(
    [make('th', {}, 'run'), ...filled.map(([name, , right]) => make('th', align(right), name))],
    entries.map(entry => [make('td', {class: 'name'}, run_mark(report.runs.indexOf(entry.run)), entry.run.name),
      ...filled.map(([, value, right]) => make('td', align(right), value(entry)))]));
}

function show_summary() {
  if (!report.runs.length) return;
  section('summary').append(table_of_runs(report.runs.map(run => ({run})),
    run_columns.map(([name, value, right]) => [name, ({run}) => value(run), right])));
}
