// DOM helpers for the page. Text is only inserted as text nodes: there is no innerHTML.

export const byId = (id) => document.getElementById(id);

/** Creates an element. Children are nodes or text; properties are attributes, or listeners if named `on…`. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const plural = (count, one, many) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** A button that copies `text()` to the clipboard and briefly shows the result. */
export function copyButton(label, text) {
  const button = h('button', {
    type: 'button',
    class: 'link-button',
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(text());
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Could not copy';
      }
      setTimeout(() => (button.textContent = label), 1600);
    },
  }, label);
  return button;
}
