// What every part of the page is built with. Text reaches the page as text nodes only: there is no innerHTML.

export const byId = (id) => document.getElementById(id);

/** Builds an element; children are nodes or text, properties are attributes, or listeners when named `on…`. */
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

/** A button that puts what `text()` gives on the clipboard, and says for a moment how that went. */
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
