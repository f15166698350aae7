// A sheet: blocks of text, values, tables and cards, drawn from plain data.
//
// Rule: all that comes from data is text. Python says what is shown; this file says how.
// Rule: what the person folded or opened stays so while the same sheet is redrawn.

import { h, icon, plain, tellCut } from "./dom.js"
import { chat, grid, image } from "./rich.js"
import { tree, inlineValue } from "./tree.js"

const instances = new WeakMap()

export default function ({ data, parentElement, setStateValue }) {
  let view = instances.get(parentElement)
  if (!view) {
    view = { host: parentElement.querySelector(".sheet"), open: new Map(), serial: 0, abort: new AbortController() }
    instances.set(parentElement, view)
    listen(view)
  }
  view.report = picked => setStateValue("picked", { ...picked, serial: `${Date.now()}-${++view.serial}` })
  render(view, data)
  return () => {
    view.abort.abort()
    instances.delete(parentElement)
  }
}

function listen(view) {
  const on = { signal: view.abort.signal }
  const act = e => {
    const target = e.target.closest?.("[data-act]")
    if (!target) return
    e.preventDefault()
    view.report({ act: target.dataset.act, value: target.dataset.value ?? "" })
  }
  view.host.addEventListener("click", act, on)
  tellCut(view.host, on)
  view.host.addEventListener("keydown", e => { if (e.key === "Enter") act(e) }, on)
  view.host.addEventListener("toggle", e => {
    if (e.target.dataset?.fold) view.open.set(e.target.dataset.fold, e.target.open)
  }, { capture: true, ...on })
}

function render(view, data) {
  view.redraw = () => render(view, data)
  view.draw = (block, where) => blocks([block], view, where)[0]
  if (view.scope !== data.scope) {
    view.scope = data.scope
    view.host.scrollTop = 0
  }
  view.host.className = `sheet ${data.layout ?? "column"}`
  const at = view.host.scrollTop
  view.host.replaceChildren(...blocks(data.blocks, view, ""))
  view.host.scrollTop = at
  view.host.dataset.stamp = data.stamp ?? ""
}

/** Bring the container around a sheet into view: its beginning, since it may still grow. */
function reveal(host) {
  const outside = host.getRootNode().host ?? host
  const box = outside.closest("[data-testid=stVerticalBlock]") ?? outside
  box.scrollIntoView({ block: "start" })
}

function blocks(list, view, where) {
  return list.map((block, i) => (BLOCKS[block.kind] ?? unknown)(block, view, `${where}/${block.id ?? i}`))
}

const unknown = block => h("p", { class: "empty" }, `cannot draw ${plain(block.kind)}`)

/** A `details` element that remembers whether the person opened it. */
function fold(view, where, openAtFirst, summary, ...content) {
  const element = h("details", { "data-fold": where, class: "fold" }, h("summary", {}, icon("chevron", 12), ...summary), ...content)
  element.open = view.open.get(where) ?? openAtFirst
  return element
}

function chip({ text, tone, icon: name, title, act, value }) {
  return h(act ? "button" : "span", { class: `chip ${tone ?? ""}`, title: title && plain(title), type: act ? "button" : null, "data-act": act, "data-value": value },
    name ? icon(name, 12) : null, h("span", {}, plain(text)))
}

function inline(item, view, where) {
  if (item.t === "chip") return chip(item)
  if (item.t === "value") return inlineValue(item.value, view, where)
  if (item.t === "gap") return h("span", { class: "gap" })
  const attributes = { class: `i ${item.t}${item.tone ? ` ${item.tone}` : ""}`, title: item.title && plain(item.title), "data-act": item.act, "data-value": item.value, "data-name": item.name }
  if (item.act) return h("button", { ...attributes, type: "button" }, plain(item.text))
  const words = item.t.includes("mono") ? breakable(plain(item.text)) : [plain(item.text)]
  return h("span", attributes, item.icon ? icon(item.icon, 13) : null, ...words)
}

/** A path or name as text that a narrow cell breaks behind its marks before it breaks within a word. */
function breakable(text) {
  return text.split(/(?<=[._\]/:])/).flatMap((part, i) => i ? [h("wbr"), part] : [part])
}

function table(block, view, where) {
  const head = h("tr", {}, ...block.columns.map(c => h("th", { class: c.align, style: c.width ? `width:${c.width}` : null, title: c.hint }, c.label)))
  const rows = block.rows.map((row, j) => h("tr", { class: `${row.tone ?? ""}${row.act ? " clickable" : ""}`, "data-act": row.act, "data-value": row.value, "data-key": row.key, tabindex: row.act ? 0 : null },
    ...(row.span ? block.columns.slice(0, 1) : block.columns).map((c, i) => {
      const cell = row.cells[i]
      const content = Array.isArray(cell) ? cell.map(item => inline(item, view, `${where}/${row.key ?? j}/${c.key}`)) : [plain(cell ?? "")]
      return h("td", { class: `${c.align ?? ""}${c.mono ? " mono" : ""}`, "data-col": c.key, colspan: row.span ? block.columns.length : null }, ...content)
    })))
  if (!rows.length) return h("p", { class: "empty" }, block.empty ?? "Nothing here.")
  return h("div", { class: "scroll-x" }, h("table", { "aria-label": block.label, class: block.columns.every(c => c.width) ? "fixed" : null }, h("thead", {}, head), h("tbody", {}, ...rows)))
}

const BLOCKS = {
  bar: b => h("div", { class: `bar ${b.tone ?? ""}`, "data-name": b.name }, ...b.items.map(item => inline(item))),
  reveal: (b, view) => {
    if (view.revealed !== b.what) requestAnimationFrame(() => reveal(view.host))
    view.revealed = b.what
    return h("span", { hidden: true })
  },
  text: b => h("p", { class: `text ${b.tone ?? ""}` }, plain(b.text)),
  pre: b => h("pre", { class: b.tone ?? "" }, plain(b.text)),
  empty: b => h("div", { class: "empty-state" }, b.icon ? icon(b.icon, 22) : null, h("b", {}, plain(b.title)), b.text ? h("p", {}, plain(b.text)) : null, b.code ? h("pre", {}, b.code) : null),
  note: (b, view, where) => h("div", { class: `note ${b.tone}`, role: b.tone === "error" ? "alert" : "status", "data-name": b.name },
    icon({ error: "failed", warn: "warn", ok: "done" }[b.tone] ?? "info", 14),
    h("div", { class: "body" }, h("p", {}, plain(b.text)),
      b.details ? fold(view, `${where}/details`, false, [h("span", {}, "Details")], h("pre", {}, plain(b.details))) : null),
    b.dismiss ? h("button", { type: "button", class: "dismiss", "data-act": "dismiss", "aria-label": "Dismiss", title: "Dismiss" }, icon("failed", 13)) : null),
  tree: (b, view, where) => tree(b, view, where),
  table: (b, view, where) => table(b, view, where),
  chat: (b, view, where) => chat(b, view, where),
  grid: (b, view, where) => grid(b, view, where),
  image: b => image(b),
  section: (b, view, where) => fold(view, where, b.open !== false,
    [h("span", { class: "section-title" }, plain(b.title)), b.count != null ? h("span", { class: "count" }, String(b.count)) : null, b.hint ? h("span", { class: "hint" }, plain(b.hint)) : null],
    h("div", { class: "section" }, ...blocks(b.blocks, view, where))),
  card: (b, view, where) => h("article", { class: `card ${b.tone ?? ""}`, "data-name": b.name, "data-status": b.status },
    h("header", {}, b.icon ? icon(b.icon, 14) : null, h("b", { class: "card-title" }, plain(b.title)), ...(b.items ?? []).map(item => inline(item))),
    h("div", { class: "card-body" }, ...blocks(b.blocks ?? [], view, where))),
}
