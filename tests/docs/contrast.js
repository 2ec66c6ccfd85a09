// The texts of a page whose contrast is below WCAG's AA: 4.5, or 3 where letters are large.
const channels = (text) => {
  const found = text.match(/[\d.]+/g).map(Number);
  return found.length < 4 ? [...found, 1] : found;
};
const over = (top, below) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]).concat(1);
const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
const ground = (node) => {
  const layers = [];
  for (; node; node = node.parentElement) layers.unshift(channels(getComputedStyle(node).backgroundColor));
  return layers.reduce((below, top) => over(top, below), [255, 255, 255, 1]);
};
const poor = new Set();
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const text = texts.currentNode.textContent.trim(), node = texts.currentNode.parentElement;
  const shown = node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  if (!text || !shown || !node.getClientRects().length) continue;
  if (node.closest("script, style, noscript, svg, .headerlink")) continue;
  const style = getComputedStyle(node), below = ground(node), size = parseFloat(style.fontSize);
  const [light, dark] = [over(channels(style.color), below), below].map(luminance).sort((a, b) => b - a);
  const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  const ratio = (light + 0.05) / (dark + 0.05);
  if (ratio < (large ? 3 : 4.5)) poor.add(`${ratio.toFixed(2)} ${style.color} ${text.slice(0, 30)}`);
}
return [...poor];
