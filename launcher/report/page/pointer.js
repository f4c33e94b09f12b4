// What is under the pointer.

const tip = document.getElementById('tip');

function show_tip(event, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const room = 16;
  const over_the_edge = event.clientX + room + tip.offsetWidth > innerWidth;
  const left = over_the_edge ? event.clientX - room - tip.offsetWidth : event.clientX + room;
  const top = Math.min(event.clientY + room, innerHeight - tip.offsetHeight - 6);
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

// Where the pointer is in a picture's own units.
function place_in(svg, event) {
  const box = svg.getBoundingClientRect();
  return {x: (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width,
          y: (event.clientY - box.top) * svg.viewBox.baseVal.height / box.height};
}

function svg_element(kind, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Has `move(event, over)` called as the pointer moves over the plot's picture; `over`: what lies over it.
function follow_pointer(plot, move) {
  const over = plot.firstElementChild.appendChild(svg_element('g', {}));
  plot.onpointerleave = () => { over.replaceChildren(); hide_tip(); };
  plot.onpointermove = event => move(event, over);
}

// Of each curve the point that is nearest to the pointer, where that is beside the nearest of all.
function points_near(spec, pointer) {
  const away = (at, place) => Math.abs(spec.frame.x(at) - place);
  const nearest = (list, at) =>
    list.reduce((best, one) => away(at(one), pointer) < away(at(best), pointer) ? one : best);
  const found = spec.series.filter(series => series.points.length).map(series => {
    const index = nearest([...series.points.keys()], point => series.points[point][0]);
    return {series, at: series.points[index][0], value: series.points[index][1], drawn: series.drawn[index][1]};
  });
  if (!found.length) return {near: []};
  const {at} = nearest(found, one => one.at);
  return {at, near: found.filter(one => away(one.at, spec.frame.x(at)) < 14)};
}

function row_of_tip(one, at) {
  const smoothed = one.drawn === one.value ? '' : `, smoothed ${draw.short(one.drawn, 4)}`;
  const where = one.at === at ? '' : ` (${draw.short(one.at, 5)})`;
  return make('div', {class: 'row'}, dot(one.series.color), one.series.name + where,
    make('b', {}, draw.short(one.value, 5) + smoothed));
}

// Shows all curves' values at the point that is nearest to the pointer.
function hover_lines(plot, spec) {
  plot.spec = spec;
  follow_pointer(plot, (event, over) => {
    const {at, near} = points_near(spec, place_in(plot.firstElementChild, event).x);
    if (!near.length) return;
    const {x, y, top, bottom} = spec.frame;
    over.replaceChildren(svg_element('line', {class: 'guide', x1: x(at), x2: x(at), y1: top, y2: bottom}));
    for (const {series, at, drawn} of near)
      if (draw.is_number(drawn) && (!spec.log || drawn > 0))
        over.insertAdjacentHTML('beforeend', draw.mark(series.color, x(at), y(drawn), 4));
    const where = spec.x === 'updates' ? `update ${at}` : spec.x === 'hours' ? time_of(at) : `${spec.x} ${at}`;
    show_tip(event, make('b', {}, where),
      ...near.map(one => row_of_tip(one, at)));
  });
}

// Shows who looks at whom, and how much.
function hover_map(plot, spec) {
  plot.spec = spec;
  follow_pointer(plot, (event, over) => {
    const place = place_in(plot.firstElementChild, event);
    const {left, top, size} = spec.frame;
    const key = Math.floor((place.x - left) / size);
    const row = Math.floor((place.y - top) / size);
    if (key < 0 || row < 0 || key >= spec.keys.length || row >= spec.queries.length) return plot.onpointerleave();
    over.replaceChildren(svg_element('rect',
      {class: 'frame', x: left + key * size, y: top + row * size, width: size, height: size}));
    const ran = spec.ran.indexOf(row);
    const looks = `${row}: ${spec.queries[row]}`;
    const seen = `${key}: ${spec.keys[key]}`;
    if (ran < 0) return show_tip(event, make('b', {}, looks), '\nhas halted: it looks at nothing any more');
    if (spec.causal && key > row)
      return show_tip(event, make('b', {}, looks), `\n${seen} comes later: it is not seen`);
    show_tip(event, make('b', {}, (spec.weights[ran][key] / 10000).toFixed(4)),
      `\n${looks}\n→ ${seen}${spec.halted[key] ? '\n(has halted: seen as it ended)' : ''}`);
  });
}
