// Small DOM helpers shared by the components.
//
// Rule: whatever comes from a graph or a database reaches the page through textContent or
// an attribute, never as markup. There is no innerHTML anywhere in these files.

const SVG = "http://www.w3.org/2000/svg"
const MAX_TITLE = 2000

/** An HTML element; `props` are attributes, children are strings (as text) or nodes. */
export function h(tag, props, ...children) {
  const element = document.createElement(tag)
  assign(element, props)
  for (const child of children) if (child != null && child !== false) element.append(child)
  return element
}

/** An SVG element, appended to `parent` when there is one. */
export function svg(tag, props, parent, text) {
  const element = document.createElementNS(SVG, tag)
  assign(element, props)
  if (text != null) element.textContent = text
  if (parent) parent.append(element)
  return element
}

function assign(element, props) {
  for (const name in props ?? {}) {
    const value = props[name]
    if (value != null && value !== false) element.setAttribute(name, value === true ? "" : value)
  }
}

// Drawn on a 16x16 grid, so that a status is told by its shape before its colour.
const ICONS = {
  done: "M3.2 8.4 6.6 11.8 12.8 4.6",
  saved: "M3.2 8.4 6.6 11.8 12.8 4.6",
  next: "M5 3.4 12 8 5 12.6Z",
  running: "M8 2.4a5.6 5.6 0 1 1-5.6 5.6",
  waiting: "M5.6 3.6v8.8M10.4 3.6v8.8",
  failed: "M4 4 12 12M12 4 4 12",
  interrupted: "M5.6 3.6v8.8M10.4 3.6v8.8",
  edited: "M3 13 3.6 10.2 10.8 3 13 5.2 5.8 12.4Z",
  fork: "M4.5 3v10M4.5 9.5c4 0 6.5-.8 6.5-4.5V3",
  input: "M8 2.6v8M4.8 7.6 8 10.8 11.2 7.6M3 13.4h10",
  lock: "M4 7.4h8v6H4ZM5.6 7.4V5.2a2.4 2.4 0 0 1 4.8 0v2.2",
  info: "M8 7.2v4.4M8 4.3v.4M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12Z",
  warn: "M8 2.6 14 13.2H2ZM8 6.6v3M8 11.2v.3",
  chevron: "M6 3.6 10.4 8 6 12.4",
  star: "M8 2.8v10.4M3.5 5.4l9 5.2M12.5 5.4l-9 5.2",
  watch: "M1.6 8C3.5 5 5.6 3.5 8 3.5S12.5 5 14.4 8C12.5 11 10.4 12.5 8 12.5S3.5 11 1.6 8ZM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6Z",
  todo: "M8 3.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6Z",
  supplied: "M3 13 3.6 10.2 10.8 3 13 5.2 5.8 12.4Z",
  person: "M8 7.6a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4ZM3 13.6c.5-2.9 2.4-4.2 5-4.2s4.5 1.3 5 4.2",
  spark: "M8 2.2 9.5 6.5 13.8 8 9.5 9.5 8 13.8 6.5 9.5 2.2 8 6.5 6.5Z",
  tool: "M9.8 2.6a3.3 3.3 0 0 0-3.2 4.5L2.8 10.9a1.6 1.6 0 0 0 2.3 2.3L8.9 9.4a3.3 3.3 0 0 0 4.5-3.2L11.5 8 9.2 7.8 8 6.8l.200-2.3Z",
  inner: "M2.5 3h11v10h-11ZM5.6 6.2h4.8v3.6H5.6Z",
  branch: "M4.5 3v10M4.5 9.5c4 0 6.5-.8 6.5-4.5V3",
}
const FILLED = new Set(["next"])

/** The named 16x16 icon as an SVG group content; unknown names give a dot. */
export function iconPath(name, parent) {
  const d = ICONS[name] ?? "M8 6.4a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2Z"
  return svg("path", { d, class: FILLED.has(name) ? "ico solid" : "ico" }, parent)
}

export function icon(name, size = 14) {
  const root = svg("svg", { viewBox: "0 0 16 16", width: size, height: size, class: `icon icon-${name}`, "aria-hidden": "true" })
  iconPath(name, root)
  return root
}

/** Text that is cut gets a title with the whole of it when the pointer comes to it. */
export function tellCut(host, on) {
  host.addEventListener("pointerover", ({ target }) => {
    if (target.nodeType !== 1 || target.title || target.scrollWidth <= target.clientWidth || getComputedStyle(target).textOverflow !== "ellipsis") return
    const around = target.parentElement?.closest("[title]")?.title
    const whole = target.textContent.slice(0, MAX_TITLE)
    target.title = around ? `${whole}\n${around}` : whole
  }, on)
}

/** Text with characters that could deceive or break the layout made visible, as `literal` does in Python. */
export function plain(text) {
  return String(text ?? "").replace(SUSPECT, (found, marks) => marks ? pile(found) : "\n\t".includes(found) ? found : escaped(found))
}

// Controls, bidirectional and zero-width characters, lone surrogates, what no font has; and combining marks.
const SUSPECT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(\p{M}+)/gu
const PILE = 4

/** Combining marks: as many as natural text has, and the rest of a pile as escapes. */
function pile(marks) {
  const all = [...marks]
  return all.slice(0, PILE).join("") + all.slice(PILE).map(escaped).join("")
}

function escaped(character) {
  const code = character.codePointAt(0)
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`
}
