// A page that tries to break the widget: styles for every element, a policy that allows only the
// widget's host, Trusted Types, globals and prototype changes of old frameworks, shortcuts on every key.

export const hostileHeaders = (origin) => ({
  'content-security-policy':
    `default-src 'none'; script-src ${origin} 'self'; style-src 'self'; connect-src ${origin}; img-src 'none'; base-uri 'none'; form-action 'none'; ` +
    "require-trusted-types-for 'script'; trusted-types 'none'",
});

const css = `
* { all: unset !important; color: magenta !important; background: yellow !important; font: 40px/3 cursive !important; opacity: .3 !important; }
div, section, button, a, p, footnote-widget { display: inline !important; position: static !important; transform: rotate(7deg) !important; filter: blur(3px) !important;
  width: 10px !important; height: 10px !important; visibility: hidden !important; pointer-events: none !important; direction: rtl !important; text-transform: uppercase !important; }
:root { --ground: red !important; --ink: red !important; --accent: red !important; font-size: 4px !important; }
html, body { display: block !important; min-height: 3000px !important; opacity: 1 !important; }
head, head * { display: none !important; }
::before, ::after { content: "HOSTILE" !important; }
`;

const js = `
// What old frameworks do to all scripts.
Array.prototype.toJSON = undefined;
Array.prototype.each = function (f) { for (var i = 0; i < this.length; i++) f(this[i]); };
Object.prototype.hostileExtra = function () {};
String.prototype.strip = function () { return this.trim(); };
Element.prototype.hide = function () { this.style.display = 'none'; };
window.$ = window.jQuery = function () { throw new Error('not for you'); };
window.define = function () { throw new Error('no modules here'); };
window.define.amd = true;
window.require = window.define;
window.module = {}; window.exports = {}; window.process = {}; window.React = {}; window.h = 1; window.set = 2; window.icon = 3; window.name = 'hostile';
window.keysSeen = [];
document.addEventListener('keydown', function (event) { window.keysSeen.push(event.key); event.preventDefault(); });
document.addEventListener('focusin', function () {});
`;

export const hostileFiles = { '/hostile.css': css, '/hostile.js': js };

export const hostilePage = (origin) => `<!doctype html>
<html lang="en">
<head>
<title>Hostile</title>
<link rel="stylesheet" href="/hostile.css">
<script src="/hostile.js"></script>
<script src="${origin}/widget.js" data-agent="agt_demo" async></script>
</head>
<body>
<main><h1>Anvil, 20 kg</h1><p>It costs 77 euros.</p></main>
</body>
</html>`;
