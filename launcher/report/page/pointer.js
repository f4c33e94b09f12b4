// Tooltips.

const tip = document.getElementById('tip');

function show_tip(event, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const gap = 16;
  const is_past_edge = event.clientX + gap + tip.offsetWidth > innerWidth;
  const left = is_past_edge ? event.clientX - gap - tip.offsetWidth : event.clientX + gap;
  const top = Math.min(event.clientY + gap, innerHeight - tip.offsetHeight - 6);
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

// The pointer's position in the picture's own units.
function position_in(svg, event) {
  const box = svg.getBoundingClientRect();
  return {x: (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width,
          y: (event.clientY - box.top) * svg.viewBox.baseVal.height / box.height};
}

function svg_element(tag, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Calls move(event, overlay) when the pointer moves over the plot. `overlay`: an element drawn over its picture.
function follow_pointer(plot, move) {
  const overlay = plot.firstElementChild.appendChild(svg_element('g', {}));
  plot.onpointerleave = () => { overlay.replaceChildren(); hide_tip(); };
  plot.onpointermove = event => move(event, overlay);
}

// {at: the x value nearest to the pointer, near: each curve's nearest point, if it is within 14 pixels of `at`}
function points_near(spec, pointer) {
  const distance = (at, position) => Math.abs(spec.frame.x(at) - position);
  const nearest = (list, at) =>
    list.reduce((best, one) => distance(at(one), pointer) < distance(at(best), pointer) ? one : best);
  const found = spec.series.filter(series => series.points.length).map(series => {
    const index = nearest([...series.points.keys()], point => series.points[point][0]);
    return {series, at: series.points[index][0], value: series.points[index][1], drawn: series.drawn[index][1]};
  });
  if (!found.length) return {near: []};
  const {at} = nearest(found, one => one.at);
  return {at, near: found.filter(one => distance(one.at, spec.frame.x(at)) < 14)};
}

function tip_row(one, at) {
  const smoothed = one.drawn === one.value ? '' : `, smoothed ${draw.format_number(one.drawn, 4)}`;
  const where = one.at === at ? '' : ` (${draw.format_number(one.at, 5)})`;
  return make('div', {class: 'row'}, run_mark(one.series.color), one.series.name + where,
    make('b', {}, draw.format_number(one.value, 5) + smoothed));
}

// Shows the values of all curves near the pointer.
function hover_lines(plot, spec) {
  plot.spec = spec;
  follow_pointer(plot, (event, overlay) => {
    const {at, near} = points_near(spec, position_in(plot.firstElementChild, event).x);
    if (!near.length) return;
    const {x, y, top, bottom} = spec.frame;
    overlay.replaceChildren(svg_element('line', {class: 'guide', x1: x(at), x2: x(at), y1: top, y2: bottom}));
    for (const {series, at, drawn} of near)
      if (draw.is_number(drawn) && (!spec.log || drawn > 0))
        overlay.insertAdjacentHTML('beforeend', draw.mark(series.color, x(at), y(drawn), 4));
    const where = spec.x === 'updates' ? `update ${at}` : spec.x === 'hours' ? time_of(at) : `${spec.x} ${at}`;
    show_tip(event, make('b', {}, where),
      ...near.map(one => tip_row(one, at)));
  });
}

// Shows the query, the key and the weight of the cell under the pointer.
function hover_map(plot, spec) {
  plot.spec = spec;
  follow_pointer(plot, (event, overlay) => {
    const position = position_in(plot.firstElementChild, event);
    const {left, top, size} = spec.frame;
    const key = Math.floor((position.x - left) / size);
    const row = Math.floor((position.y - top) / size);
    if (key < 0 || row < 0 || key >= spec.keys.length || row >= spec.queries.length) return plot.onpointerleave();
    overlay.replaceChildren(svg_element('rect',
      {class: 'frame', x: left + key * size, y: top + row * size, width: size, height: size}));
    const ran = spec.ran.indexOf(row);
    const query_text = `${row}: ${spec.queries[row]}`;
    const key_text = `${key}: ${spec.keys[key]}`;
    if (ran < 0) return show_tip(event, make('b', {}, query_text), '\nhas halted and no longer looks at anything');
    if (spec.causal && key > row)
      return show_tip(event, make('b', {}, query_text), `\n${key_text} comes later and cannot be seen`);
    show_tip(event, make('b', {}, (spec.weights[ran][key] / 10000).toFixed(4)),
      `\n${query_text}\n→ ${key_text}${spec.halted[key] ? '\n(has halted: its final state is seen)' : ''}`);
  });
}
