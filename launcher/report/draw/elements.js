// Draws a report's pictures as SVG text. The page runs this code in a browser. `ut report --svg` runs it in an
// interpreter that knows ECMAScript 5 and has no document. The colours are in picture.css. The files of this folder,
// in the order of CMakeLists.txt, are one function, which alone.js ends. This file has what all pictures share.
var draw = (function () {
'use strict';

var colours = 8;
// Runs beyond the eighth repeat the colours and have another of these shapes.
var marks = ['M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z', 'M-1-1h2v2h-2z', 'M0-1.25l1.25 2.1h-2.5z',
  'M0-1.25l1.25 1.25-1.25 1.25-1.25-1.25z', 'M-.4-1.2h.8v.8h.8v.8h-.8v.8h-.8v-.8h-.8v-.8h.8z'];

// Replaces characters that XML does not allow by U+FFFD.
function escape_xml(text) {
  return String(text).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

function is_number(x) { return typeof x === 'number' && isFinite(x); }

// `digits`: significant digits, 4 if not given.
function format_number(x, digits) {
  if (!is_number(x)) return 'not finite';
  var size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return x.toExponential(Math.max(1, (digits || 4) - 2));
  if (size >= 1e6) return Number((x / 1e6).toPrecision(digits || 4)) + 'M';
  if (size >= 1e4) return Number((x / 1e3).toPrecision(digits || 4)) + 'k';
  return String(Number(x.toPrecision(digits || 4)));
}

function format_percent(share) { return Number((100 * share).toPrecision(3)) + ' %'; }

// About as wide as the words are at the pictures' font size, rather too wide than too narrow.
function text_width(words) {
  var width = 0;
  for (var place = 0; place < words.length; ++place) {
    var sign = words.charAt(place);
    if (sign >= '\u1100' && !(sign >= '\ud800' && sign <= '\udfff')) width += 11.5;
    else if (/[ijlt.,:;!'|()fr ]/.test(sign)) width += 4.2;
    else if (/[mwMW@%…—]/.test(sign)) width += 10.8;
    else width += /[A-Z]/.test(sign) ? 8.4 : 6.6;
  }
  return width;
}

function truncated(text, length) { return text.length > length ? text.slice(0, length - 1) + '…' : text; }

function text(x, y, words, anchor, attributes) {
  return '<text x="' + x.toFixed(1) + '" y="' + y.toFixed(1) + '" text-anchor="' + (anchor || 'middle') + '"' +
    (attributes ? ' ' + attributes : '') + '>' + escape_xml(words) + '</text>';
}

function line(x1, y1, x2, y2, css_class) {
  return '<line class="' + css_class + '" x1="' + x1.toFixed(1) + '" y1="' + y1.toFixed(1) + '" x2="' +
    x2.toFixed(1) + '" y2="' + y2.toFixed(1) + '"/>';
}

function rectangle(x, y, width, height, css_class, attributes) {
  return '<rect class="' + css_class + '" x="' + x.toFixed(1) + '" y="' + y.toFixed(1) + '" width="' +
    Math.max(0, width).toFixed(1) + '" height="' + Math.max(0, height).toFixed(1) + '"' + (attributes || '') + '/>';
}

function mark(color, x, y, radius) {
  return '<path class="mark f' + color % colours + '" transform="translate(' + x.toFixed(1) + ' ' + y.toFixed(1) +
    ') scale(' + radius + ')" d="' + marks[Math.floor(color / colours) % marks.length] + '"/>';
}

function tip_attribute(words) { return ' data-tip="' + escape_xml(words) + '"'; }

function svg(width, height, label, body) {
  return '<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" aria-label="' + escape_xml(label) +
    '" width="' + Math.ceil(width) + '" height="' + Math.ceil(height) + '" viewBox="0 0 ' + Math.ceil(width) + ' ' +
    Math.ceil(height) + '">' + body + '</svg>';
}

// [1, 2, …, count]
function numbers_to(count) {
  var numbers = [];
  while (numbers.length < count) numbers.push(numbers.length + 1);
  return numbers;
}
