// Ponder times over training and in one update.

function ponder_spec(report, options) {
  var series = [];
  report.runs.forEach(function (run, index) {
    if (options.hidden && options.hidden[index]) return;
    ['encoder', 'decoder'].forEach(function (stack) {
      var records = run.ponder[stack];
      if (!records) return;
      var points = records.map(function (r) { return [r.update, r.mean]; });
      var band = records.filter(function (r) { return is_number(r.mean) && is_number(r.sd); })
        .map(function (r) { return [r.update, r.mean - r.sd, r.mean + r.sd]; });
      series.push({name: run.name + ', ' + stack, color: index, dash: stack === 'decoder',
        points: options.hours ? over_hours(points, run) : points,
        band: options.hours ? over_hours(band, run) : band});
    });
  });
  return {label: 'Ponder time', width: options.width, height: options.height, x: options.hours ? 'hours' : 'updates',
    y: 'steps per position: mean ± standard deviation', floor: 0, series: series, legend: options.legend,
    caption: 'Solid: encoder. Dashed: decoder.'};
}

function histogram_spec(record, options) {
  var positions = (record.histogram || []).reduce(function (sum, count) { return sum + count; }, 0);
  var values = (record.histogram || []).map(function (count) { return positions ? count / positions : 0; });
  return {label: 'Ponder times', width: options.width, height: options.height, color: options.color,
    x: 'steps', y: 'share of positions', names: numbers_to(values.length), values: values,
    tips: values.map(function (share, index) {
      return (index + 1) + ' step' + (index ? 's' : '') + ': ' + record.histogram[index] + ' of ' + positions +
        ' positions, ' + format_percent(share);
    })};
}

function running_spec(record, options) {
  var values = record.running || [];
  return {label: 'Positions that run', width: options.width, height: options.height, color: options.color,
    x: 'step', y: 'share of positions that take the step', names: numbers_to(values.length), values: values,
    tips: values.map(function (share, index) {
      return 'step ' + (index + 1) + ': ' + format_percent(share) + ' run';
    })};
}
