// A report's pictures, as SVG text. The page draws with this, and so does `ut report --svg`, outside a browser: in an
// interpreter that knows ECMAScript 5 and no document. Colours are picture.css's. The files of this folder are one
// function, in CMakeLists.txt's order, which alone.js ends: what all pictures are made of.
var draw = (function () {
'use strict';

var colours = 8;
// A run's second mark, which tells the ninth from the first.
var marks = ['M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z', 'M-1-1h2v2h-2z', 'M0-1.25l1.25 2.1h-2.5z',
  'M0-1.25l1.25 1.25-1.25 1.25-1.25-1.25z', 'M-.4-1.2h.8v.8h.8v.8h-.8v.8h-.8v-.8h-.8v-.8h.8z'];
var letter = 6.3; // width of one, at the size that pictures have

// Characters that XML has not are shown as one that stands for such.
function escape(text) {
  return String(text).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

function is_number(x) { return typeof x === 'number' && isFinite(x); }

// A number as people like to read it, with so many digits.
function short(x, digits) {
  if (!is_number(x)) return 'not a number';
  var size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return x.toExponential(Math.max(1, (digits || 4) - 2));
  if (size >= 1e6) return Number((x / 1e6).toPrecision(digits || 4)) + 'M';
  if (size >= 1e4) return Number((x / 1e3).toPrecision(digits || 4)) + 'k';
  return String(Number(x.toPrecision(digits || 4)));
}

function percent(share) { return Number((100 * share).toPrecision(3)) + ' %'; }

function cut(text, most) { return text.length > most ? text.slice(0, most - 1) + '…' : text; }

function text(x, y, words, anchor, more) {
  return '<text x="' + x.toFixed(1) + '" y="' + y.toFixed(1) + '" text-anchor="' + (anchor || 'middle') + '"' +
    (more ? ' ' + more : '') + '>' + escape(words) + '</text>';
}

function line(x1, y1, x2, y2, kind) {
  return '<line class="' + kind + '" x1="' + x1.toFixed(1) + '" y1="' + y1.toFixed(1) + '" x2="' + x2.toFixed(1) +
    '" y2="' + y2.toFixed(1) + '"/>';
}

function rectangle(x, y, width, height, kind, more) {
  return '<rect class="' + kind + '" x="' + x.toFixed(1) + '" y="' + y.toFixed(1) + '" width="' +
    Math.max(0, width).toFixed(1) + '" height="' + Math.max(0, height).toFixed(1) + '"' + (more || '') + '/>';
}

function mark(color, x, y, radius) {
  return '<path class="mark f' + color % colours + '" transform="translate(' + x.toFixed(1) + ' ' + y.toFixed(1) +
    ') scale(' + radius + ')" d="' + marks[Math.floor(color / colours) % marks.length] + '"/>';
}

function tip(words) { return ' data-tip="' + escape(words) + '"'; }

function svg(width, height, label, body) {
  return '<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" aria-label="' + escape(label) +
    '" width="' + Math.ceil(width) + '" height="' + Math.ceil(height) + '" viewBox="0 0 ' + Math.ceil(width) + ' ' +
    Math.ceil(height) + '">' + body + '</svg>';
}

function numbered(count) {
  var numbers = [];
  while (numbers.length < count) numbers.push(numbers.length + 1);
  return numbers;
}
