// Rows per second over ranks, relative to the fewest ranks of a curve.
function scaling_spec(report, options) {
  var series = [];
  var by_name = {};
  report.scaling.forEach(function (table) {
    table.rows.forEach(function (row) {
      if (!is_number(row.efficiency)) return;
      var of_kind = [row.kind, row.size].concat(row.exchange !== 'none' ? [row.exchange] : []).join(' ');
      var name = (row.curve || of_kind) + (report.scaling.length > 1 ? ', ' + table.file : '');
      if (!by_name[name])
        series.push(by_name[name] = {name: name, color: series.length, dots: true, points: []});
      by_name[name].points.push([row.ranks, row.ranks * row.efficiency]);
    });
  });
  series.forEach(function (one) { one.points.sort(function (a, b) { return a[0] - b[0]; }); });
  var ranks = [];
  series.forEach(function (one) {
    one.points.forEach(function (point) { if (ranks.indexOf(point[0]) < 0) ranks.push(point[0]); });
  });
  if (series.length)
    series.push({name: 'ideal', color: 7, dash: true, points: ranks.sort(function (a, b) { return a - b; })
      .map(function (count) { return [count, count]; })});
  var log = ranks.length > 0 && ranks[0] > 0 && ranks[ranks.length - 1] / ranks[0] > 8;
  return {label: 'Scaling', width: options.width, height: options.height, x: 'ranks', log: log, log_x: log,
    y: 'speedup: ranks × efficiency', floor: 0, series: series, legend: options.legend,
    x_ticks: ranks.length < 12 ? ranks : undefined};
}
