// Values as trees: each row a key, a type and the exact text; containers fold.
//
// A node is {k: kind, t: type, x: text, n: size, h: hidden, p: path when what is hidden can be shown,
// w: path when it can be asked why the value is what it is,
// f: forms it can be drawn in, b: the block that draws it in its fitting form, a: the form to draw it in,
// i: the address by which Python remembers that, without which it is remembered here,
// c: [[key, node], ...]}.

import { h, icon, plain } from "./dom.js"

const LONG = 160
const FORMS = { chat: "Chat", table: "Table", image: "Image", tree: "Tree", json: "JSON" }
const BRACKETS = { list: ["[", "]"], tuple: ["(", ")"], set: ["{", "}"], dict: ["{", "}"] }

/** One line for a value inside a table cell or a diff. */
export function inlineValue(node, view, where) {
  if (!node) return h("span", { class: "v none" }, "–")
  if (node.b && view && where) return inlineBlock(node, view, where)
  const text = node.c?.length ? framed(node) : plain(node.x)
  const short = text.length > LONG ? `${text.slice(0, LONG)}…` : text
  return h("span", { class: `v ${node.k}`, title: `${node.t}${node.n ? `, ${node.n}` : ""}\n${text.slice(0, 2000)}` }, short)
}

/** A chat, table or image in a cell: one message or image as it is, others folded under their line. */
function inlineBlock(node, view, where) {
  if (node.b.kind === "image" || node.b.messages?.length === 1) return h("div", { class: "inside alone" }, view.draw(node.b, where))
  const element = h("details", { class: "fold inside", "data-fold": where },
    h("summary", {}, icon("chevron", 11), inlineValue({ ...node, b: null })))
  const fill = () => { if (element.childElementCount === 1) element.append(view.draw(node.b, where)) }
  element.open = view.open.get(where) ?? false
  if (element.open) fill()
  element.addEventListener("toggle", () => { if (element.open) fill() })
  return element
}

export function tree(block, view, where) {
  if (!block.rows.length) return h("p", { class: "empty" }, block.empty ?? "Nothing here.")
  return h("div", { class: "tree", role: "tree" }, ...block.rows.map(row => top(row, view, `${where}/${row.key}`, block.depth ?? 1)))
}

function top(row, view, where, depth) {
  const marks = [
    row.changed ? h("span", { class: "chip changed", title: "changed in this superstep" }, icon("edited", 11), h("span", {}, "changed")) : null,
    row.by ? h("span", { class: "by", title: `written by ${plain(row.by)}` }, plain(row.by)) : null,
    row.version ? h("span", { class: "version", title: "channel version" }, `v${plain(row.version)}`) : null,
  ]
  return h("div", { class: `top ${row.changed ? "changed" : ""}`, "data-key": row.key }, branch(row.key, row.value, view, where, depth, marks))
}

function branch(key, node, view, where, depth, marks = []) {
  if (node?.w) marks = [...marks, watch(node.w), why(node.w)]
  const name = h("span", { class: "key" }, plain(key) || '""')
  if (node?.f) {
    const form = node.i ? node.a : view.open.get(`${where}#form`) ?? node.f[0]
    marks = [forms(node, form, view, where), ...marks]
    if (node.b && (node.i || form !== "tree")) return fitted(name, node, view, where, marks)
  }
  if (!node) return h("div", { class: "leaf" }, name, h("span", { class: "v none" }, "empty"), ...marks)
  if (!node.c?.length) return leaf(name, node, view, where, marks)
  const short = sized(node)
  const summary = h("summary", {}, icon("chevron", 11), name, h("span", { class: "type" }, `${plain(node.t)} ${short}`.trim()), h("span", { class: `preview v ${node.k}` }, preview(node)), ...marks)
  const element = h("details", { "data-fold": where }, summary)
  const fill = () => {
    if (element.childElementCount > 1) return
    const rows = node.c.map(([k, child]) => branch(k, child, view, `${where}/${k}`, depth - 1))
    if (node.h) rows.push(h("div", { class: "more" }, rest(node)))
    element.append(h("div", { class: "children" }, ...rows))
  }
  if (view.open.get(where) ?? depth > 0) {
    element.open = true
    fill()
  }
  element.addEventListener("toggle", () => { if (element.open) fill() })
  return element
}

/** The choice of forms; Python is told where it remembers the choice. */
function forms(node, chosen, view, where) {
  const buttons = node.f.map(form => {
    const button = h("button", { type: "button", "aria-pressed": String(form === chosen), "data-act": node.i ? "form" : null,
      "data-value": node.i ? JSON.stringify([node.i, form]) : null, "data-form": form }, FORMS[form])
    if (!node.i) button.addEventListener("click", e => {
      e.preventDefault()
      e.stopPropagation()
      view.open.set(`${where}#form`, form)
      view.redraw()
    })
    return button
  })
  return h("span", { class: "forms", role: "group", "aria-label": "Shown as" }, ...buttons)
}

/** A value in another form than the tree, under its key. */
function fitted(name, node, view, where, marks) {
  const element = h("details", { "data-fold": where, class: "fitted" },
    h("summary", {}, icon("chevron", 11), name, h("span", { class: "type" }, `${plain(node.t)} ${node.k === "str" ? "" : sized(node)}`.trim()), h("span", { class: "gap" }), ...marks))
  const fill = () => { if (element.childElementCount === 1) element.append(view.draw(node.b, where)) }
  element.open = view.open.get(where) ?? true
  if (element.open) fill()
  element.addEventListener("toggle", () => { if (element.open) fill() })
  return element
}

/** How many items a container has, in its own brackets. */
function sized(node) {
  const [open, close] = BRACKETS[node.k] ?? ["", ""]
  return `${open}${node.n ? node.n.toLocaleString("en") : ""}${close}`
}

function framed(node) {
  const [open, close] = BRACKETS[node.k] ?? ["(", ")"]
  return open + preview(node) + close
}

/** A folded container in one line: its first items, as far as they are short. */
function preview(node) {
  const named = !["list", "tuple", "set"].includes(node.k)
  return node.c.slice(0, 6).map(([key, child]) => {
    const text = child?.c?.length ? framed(child) : plain(child?.x ?? "").slice(0, 60)
    return named ? `${plain(key)}: ${text}` : text
  }).join(", ").slice(0, LONG)
}

/** The question who wrote a value; Python answers it by the path. */
function why(path) {
  return h("button", { type: "button", class: "why", "data-act": "why", "data-value": path, title: "Why this value: who wrote it, from what" }, "why")
}

/** The wish to see a value at every checkpoint. */
function watch(path) {
  return h("button", { type: "button", class: "why watch", "data-act": "watch", "data-value": path, title: "Watch this value: show it in every row of the timeline", "aria-label": "Watch this value" }, icon("watch", 13))
}

/** What is left out of a value; a button when Python says by which path it can be asked for. */
function rest(node) {
  const said = `${node.h} more not shown`
  return node.p ? h("button", { type: "button", class: "all", "data-act": "full", "data-value": node.p }, `${said}: show all`) : h("span", { class: "all" }, said)
}

function leaf(name, node, view, where, marks) {
  const text = plain(node.x)
  const type = node.k === "str" || node.k === "null" ? null : h("span", { class: "type" }, plain(node.t))
  const more = node.h ? rest(node) : null
  if (text.length <= LONG) return h("div", { class: "leaf" }, name, type, h("span", { class: `v ${node.k}` }, text), more, ...marks)
  const element = h("details", { class: "long", "data-fold": where },
    h("summary", {}, icon("chevron", 11), name, type, h("span", { class: `preview v ${node.k}` }, text.slice(0, LONG) + "…"), h("span", { class: "type" }, `${(node.n || text.length).toLocaleString("en")} characters`), ...marks),
    h("pre", { class: `v ${node.k}` }, text), more)
  element.open = view.open.get(where) ?? false
  return element
}
