// Values in the form that fits them: chats, tables, images.
//
// Rule: all that comes from data is text, set as text.
// Rule: an image is made of the bytes that came along, of four known kinds, and of nothing else.

import { h, icon, plain } from "./dom.js"
import { inlineValue } from "./tree.js"

const LONG = 700
const LINES = 12
const DRAWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const ROLE_ICONS = { human: "person", ai: "spark", system: "info", tool: "tool", remove: "failed", other: "todo" }

export function image(block) {
  const size = block.size < 10_000 ? `${block.size} bytes` : `${Math.round(block.size / 1000).toLocaleString("en")} kB`
  const said = `${block.mime.slice(6)} · ${block.width} × ${block.height} · ${size}`
  if (!DRAWN.has(block.mime) || !BASE64.test(block.data)) {
    return h("p", { class: "text small" }, `${said} · not drawn: ${plain(block.reason || "damaged")}`)
  }
  const picture = h("img", { alt: said, width: block.width, height: block.height, decoding: "async" })
  const broken = h("p", { class: "text small" }, "The bytes are no image that this browser can draw.")
  broken.hidden = true
  picture.addEventListener("error", () => { picture.remove(); broken.hidden = false })
  picture.src = `data:${block.mime};base64,${block.data}`
  return h("figure", { class: "picture" }, picture, broken, h("figcaption", {}, said))
}

export function grid(block, view, where) {
  const head = h("tr", {}, h("th", { class: "index" }, ""), ...block.columns.map(name => h("th", {}, plain(name))))
  const rows = block.rows.map((cells, i) =>
    h("tr", {}, h("th", { class: "index", scope: "row" }, plain(block.labels[i])), ...cells.map(cell => h("td", {}, inlineValue(cell, view)))))
  return h("div", { class: "grid" },
    h("div", { class: "grid-scroll" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows))),
    pages(block, block.rows.length, "rows"),
    block.left ? h("p", { class: "text small" }, `${block.left} more columns: Tree and JSON have them.`) : null)
}

export function chat(block, view, where) {
  const messages = block.messages.map(one => message(one, view, `${where}/${one.index}`, block))
  return h("div", { class: "chat" }, pages(block, block.messages.length, "messages"), ...messages)
}

/** Which part of a longer value this is, with the way to the parts around it where Python can give them. */
function pages(block, count, what) {
  if (count >= block.total) return null
  const end = block.offset + count
  const said = h("span", { class: "muted" }, `${what} ${block.offset}–${end - 1} of ${block.total.toLocaleString("en")}`)
  if (!block.address) return h("div", { class: "pages" }, said)
  const go = (label, offset, able) =>
    h("button", { type: "button", class: "i button", "data-act": "page", "data-value": JSON.stringify([block.address, offset]), disabled: !able }, label)
  const step = block.page ?? count
  return h("div", { class: "pages" }, said,
    go("First", 0, block.offset > 0), go("Earlier", Math.max(0, block.offset - step), block.offset > 0),
    go("Later", Math.min(block.total - 1, block.offset + step), end < block.total),
    go("Last", Math.max(0, block.total - step), end < block.total))
}

function message(one, view, where, { total, part }) {
  const title = [one.id && `id ${one.id}`, `message ${one.index}`].filter(Boolean).join(" · ")
  const head = h("header", { title: plain(title) },
    icon(ROLE_ICONS[one.role] ?? "todo", 13), h("b", { class: "role" }, plain(one.word)),
    one.name ? h("span", { class: "name" }, plain(one.name)) : null,
    one.answers ? h("span", { class: "muted" }, answered(one)) : null,
    one.orphan && !part ? mark("no such call", "warn", "Nothing in this chat called a tool with this id") : null,
    one.failed ? mark("error", "failed", "The tool said that it failed") : null,
    h("span", { class: "gap" }), total > 1 ? h("span", { class: "muted index" }, `${one.index}`) : null)
  const parts = one.blocks.map((part, i) => content(part, view, `${where}/b${i}`))
  const calls = one.calls.map((call, i) => toolCall(call, view, `${where}/c${i}`, part))
  const nothing = !parts.length && !calls.length ? h("p", { class: "muted" }, one.role === "remove" ? "removes the message with its id" : "no content") : null
  return h("article", { class: `turn ${one.role}`, "data-index": one.index }, head, ...parts, ...calls, nothing)
}

const answered = one => one.asked == null ? `result ${plain(one.answers)}` : `result of ${plain(one.answers)} (${one.asked})`

function mark(text, tone, title) {
  return h("span", { class: `chip ${tone}`, title }, icon(tone === "warn" ? "warn" : "failed", 11), h("span", {}, text))
}

function content(part, view, where) {
  if (part.image) return image(part.image)
  const label = part.label || (part.kind === "reasoning" ? "reasoning" : part.kind === "result" ? "result" : "")
  return h("div", { class: `block ${part.kind}` }, label ? h("span", { class: "label" }, plain(label)) : null, long(part.text, part.hidden, view, where))
}

/** A text with its line breaks; a long one is cut until the person asks for all of it. */
function long(text, hidden, view, where) {
  const whole = plain(text)
  const body = h("p", { class: "said" })
  const rest = hidden ? h("p", { class: "text small" }, `${hidden.toLocaleString("en")} more characters: Tree and JSON have them.`) : null
  const short = cut(whole)
  if (short === whole) {
    body.textContent = whole
    return h("div", {}, body, rest)
  }
  const button = h("button", { type: "button", class: "all" })
  const draw = () => {
    const open = view.open.get(`${where}/all`) ?? false
    body.textContent = open ? whole : `${short}…`
    button.textContent = open ? "show less" : `show all ${whole.length.toLocaleString("en")} characters`
    if (rest) rest.hidden = !open
  }
  button.addEventListener("click", e => {
    e.stopPropagation()
    view.open.set(`${where}/all`, !(view.open.get(`${where}/all`) ?? false))
    draw()
  })
  draw()
  return h("div", {}, body, button, rest)
}

function cut(text) {
  const lines = text.split("\n")
  const few = lines.length > LINES + 2 ? lines.slice(0, LINES).join("\n") : text
  return few.length > LONG + 60 ? few.slice(0, LONG) : few
}

function toolCall(call, view, where, part) {
  const state = call.invalid ? mark("not readable", "failed", plain(call.invalid))
    : call.answer == null ? part ? null : mark("no result", "warn", "Nothing in this chat answers this call")
    : h("span", { class: "chip done", title: `answered by message ${call.answer}` }, icon("done", 11), h("span", {}, `answered (${call.answer})`))
  return h("div", { class: "call" },
    h("div", { class: "call-head", title: call.id ? `call ${plain(call.id)}` : null }, icon("tool", 12), h("span", { class: "muted" }, "calls"), h("b", { class: "mono" }, plain(call.name)), state),
    call.arguments === "{}" ? null : h("div", { class: "arguments" }, long(call.arguments, 0, view, where)))
}
