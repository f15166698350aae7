// The timeline: one row per checkpoint, newest first, with a lane per branch.
//
// Rule: only the rows in view are in the DOM, so ten thousand checkpoints scroll like fifty.
// Rule: the selection is Python's; a click or a key marks the row at once and reports it. Until Python has
// answered that report, what it sends still speaks of the row before and does not move the mark.
// Rule: all rows are equally high; watches give each of them a line of cells, two in a line.

import { h, svg, icon, plain, tellCut } from "./dom.js"

const ROW = 40, CELLS = 17, DOT = 20, INDENT = 33, LANE = 16, NARROW = 9, LEFT = 14, SPARE = 5, MAX_LANES = 8, WIDE_LANES = 4, LARGE = 1000
const PALETTE = ["blue", "violet", "orange", "green", "red", "yellow", "gray"]
const STATUS = { waiting: "waiting", failed: "failed", done: "done", running: "running", damaged: "warn" }
const WORD = { waiting: "waiting", failed: "failed", done: "finished", running: "running", damaged: "damaged" }
const SOURCE = { input: "input", update: "edited", fork: "fork" }
const instances = new WeakMap()

export default function ({ data, parentElement, setStateValue }) {
  let view = instances.get(parentElement)
  if (!view) {
    view = new TimelineView(parentElement.querySelector(".timeline"))
    instances.set(parentElement, view)
  }
  view.set = setStateValue
  view.update(data)
  return () => {
    view.destroy()
    instances.delete(parentElement)
  }
}

class TimelineView {
  constructor(host) {
    this.host = host
    this.list = host.querySelector(".list")
    this.inner = host.querySelector(".inner")
    this.lines = host.querySelector("svg.lanes")
    this.find = host.querySelector("input")
    this.count = host.querySelector(".count")
    this.extras = { hidden: host.querySelector(".hidden-branches"), news: host.querySelector(".news") }
    this.watched = host.querySelector(".watched")
    for (const row of this.inner.querySelectorAll(".row, .older")) row.remove()
    this.dom = new Map()
    this.matches = null
    this.listen()
  }

  listen() {
    this.abort = new AbortController()
    const on = { signal: this.abort.signal }
    this.list.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true, ...on })
    this.inner.addEventListener("click", e => {
      if (e.target.closest(".older")) return this.set("older", { rows: this.rows.length, serial: this.next() })
      const row = e.target.closest(".row")
      if (row) this.choose(+row.dataset.i)
    }, on)
    for (const [name, button] of Object.entries(this.extras)) button.addEventListener("click", () => this.set(name, { serial: this.next() }), on)
    this.watched.addEventListener("click", e => {
      const button = e.target.closest("button")
      if (button) this.set("unwatch", { expression: button.dataset.watch, serial: this.next() })
    }, on)
    this.list.addEventListener("keydown", e => this.key(e), on)
    tellCut(this.host, on)
    this.find.addEventListener("input", () => this.search(), on)
    this.find.addEventListener("keydown", e => {
      if (e.key !== "Enter") return
      e.preventDefault()
      this.jump(e.shiftKey ? -1 : 1)
    }, on)
    this.resize = new ResizeObserver(() => this.draw())
    this.resize.observe(this.list)
  }

  destroy() {
    this.abort.abort()
    this.resize.disconnect()
    clearTimeout(this.timer)
  }

  // -- data in ---------------------------------------------------------------------------

  update(data) {
    const fresh = this.version !== data.version, anchor = fresh && this.version ? this.anchor() : null
    this.announce(data)
    if (fresh) this.load(data)
    if (anchor) this.restore(anchor)
    if (data.answered === this.asked) this.asked = null
    const selected = this.asked ? this.selected : data.selected
    const moved = selected !== this.selected
    if (moved || fresh) {
      this.selected = selected
      this.trace()
      const at = this.index.get(this.selected)
      if (at !== undefined && (moved || !anchor)) this.reveal(at)
    }
    this.drawn = null
    this.draw()
    this.host.dataset.version = data.version
    this.host.dataset.selected = this.selected ?? ""
    this.host.dataset.count = data.total
  }

  load(data) {
    this.version = data.version
    this.rows = data.rows
    this.index = new Map(this.rows.map((row, i) => [row.id, i]))
    this.parents = this.rows.map(row => this.index.get(row.parent) ?? -1)
    this.more = data.more
    this.lane = data.lanes > WIDE_LANES ? NARROW : LANE
    this.gutter = LEFT + 2 + Math.max(8, (Math.min(MAX_LANES, Math.max(1, data.lanes)) - 1) * this.lane + 8)
    this.watch(data.watches)
    this.inner.style.height = `${this.rows.length * this.tall + (data.more ? this.tall : 0)}px`
    for (const row of this.dom.values()) row.remove()
    this.dom.clear()
    this.inner.querySelector(".older")?.remove()
    if (data.more) this.inner.append(h("button", { type: "button", class: "older", style: `top:${this.rows.length * this.tall}px` }, `Show older (${(data.total - this.rows.length).toLocaleString("en")} more)`))
    const total = data.total.toLocaleString("en"), noun = `checkpoint${data.total === 1 ? "" : "s"}`
    this.summary = data.branches === 1 ? `${total} ${noun}` : `${total}${data.total < LARGE ? ` ${noun}` : ""} · ${data.branches} branches`
    this.count.title = data.branches === 1 ? "" : `${total} ${noun} on ${data.branches} branches`
    this.search()
  }

  announce(data) {
    for (const [name, button] of Object.entries(this.extras)) {
      button.textContent = plain(data[name])
      button.hidden = !data[name]
    }
  }

  // What is in view stays where it is when rows come above it; at the very top the new rows show.
  anchor() {
    const top = this.list.scrollTop, row = this.rows[Math.floor(top / this.tall)]
    return top > 0 && row ? { id: row.id, by: top % this.tall } : { top }
  }

  restore({ id, by, top }) {
    const at = this.index.get(id)
    this.list.scrollTop = at === undefined ? top ?? this.list.scrollTop : at * this.tall + by
  }

  watch(watches) {
    this.watches = watches
    this.tall = ROW + Math.ceil(watches.length / 2) * CELLS
    this.inner.style.setProperty("--row", `${this.tall}px`)
    this.watched.hidden = !watches.length
    this.watched.style.paddingLeft = `${this.gutter + INDENT}px`
    this.watched.replaceChildren(...watches.map(text => h("span", { class: "watch", title: plain(text) }, h("span", {}, plain(text)),
      h("button", { type: "button", "data-watch": text, title: "Stop watching this", "aria-label": `Stop watching ${plain(text)}` }, icon("failed", 10)))))
    this.watched.classList.toggle("single", watches.length === 1)
  }

  trace() {
    this.path = new Set()
    let i = this.index.get(this.selected) ?? -1
    while (i >= 0 && !this.path.has(i)) {
      this.path.add(i)
      i = this.parents[i]
    }
  }

  // -- drawing the rows in view ---------------------------------------------------------------

  draw() {
    const top = this.list.scrollTop, height = this.list.clientHeight
    const from = Math.max(0, Math.floor(top / this.tall) - SPARE)
    const to = Math.min(this.rows.length, Math.ceil((top + height) / this.tall) + SPARE)
    const key = `${from}:${to}:${this.selected}:${this.version}`
    if (key === this.drawn) return
    this.drawn = key
    for (const [i, row] of this.dom) if (i < from || i >= to) {
      row.remove()
      this.dom.delete(i)
    }
    for (let i = from; i < to; i++) if (!this.dom.has(i)) {
      const row = this.row(i)
      this.dom.set(i, row)
      this.inner.append(row)
    }
    this.drawLanes(from, to)
    this.paint()
  }

  row(i) {
    const r = this.rows[i]
    const status = STATUS[r.status]
    const mark = status && (r.head || r.status !== "done") ? h("span", { class: `status ${status}`, title: WORD[status] }, icon(status, 12), h("span", {}, WORD[status])) : null
    const title = h("span", { class: "title" }, SOURCE[r.source] && r.source !== "input" ? icon(SOURCE[r.source], 12) : null, h("span", { class: "who" }, plain(r.title)), r.inner ? h("span", { class: "nested", title: "ran a subgraph: Step into (I)" }, icon("inner", 12)) : null)
    const branch = r.branch_name ? h("span", { class: `branch c-${this.colour(r.lane)}`, title: plain(r.branch_name) }, plain(r.branch_name)) : null
    const first = h("div", { class: "one" }, h("span", { class: "step" }, String(r.step)), title, branch, mark)
    const second = h("div", { class: "two" }, h("span", { class: "sub" }, plain(r.sub)), h("span", { class: "when" }, r.when))
    const row = h("div", { class: "row", role: "option", id: `row-${i}`, "data-i": i, "data-checkpoint": r.id, "data-source": r.source, "data-status": r.status, style: `top:${i * this.tall}px;padding-left:${this.gutter}px`, title: plain(r.hint) }, first, second, this.watches.length ? this.cells(i) : null)
    return row
  }

  cells(i) {
    const before = this.rows[this.parents[i]]?.cells
    return h("div", { class: `cells${this.watches.length === 1 ? " single" : ""}` }, ...this.rows[i].cells.map(({ x, e }, k) => {
      const moved = before && before[k].x !== x ? " moved" : ""
      return h("span", { class: `cell${e ? " none" : moved}`, title: `${plain(this.watches[k])}\n${plain(e || x)}` }, e ? "–" : plain(x))
    }))
  }

  colour(lane) { return PALETTE[lane % PALETTE.length] }

  laneX(lane) { return LEFT + Math.min(lane, MAX_LANES - 1) * this.lane }

  drawLanes(from, to) {
    const out = this.lines
    out.replaceChildren()
    out.style.top = `${from * this.tall}px`
    out.setAttribute("height", (to - from) * this.tall)
    out.setAttribute("width", this.gutter)
    const y = i => (i - from) * this.tall + DOT
    for (let i = 0; i < to; i++) {
      const p = this.parents[i]
      if (p < 0 ? i < from || !this.rows[i].parent : p < from || p <= i) continue
      const end = p < 0 ? this.rows.length : p
      const x1 = this.laneX(this.rows[i].lane), x2 = p < 0 ? x1 : this.laneX(this.rows[p].lane)
      const bend = `V${y(end) - this.tall}C${x1},${y(end) - this.tall * 0.4} ${x2},${y(end) - this.tall * 0.6} ${x2},${y(end)}`
      svg("path", { d: `M${x1},${y(i)}${x1 === x2 ? `V${y(end)}` : bend}`, class: `line c-${this.colour(this.rows[i].lane)}${this.path.has(i) ? " on" : ""}` }, out)
    }
    for (let i = from; i < to; i++) this.drawDot(i, y(i), out)
  }

  drawDot(i, y, out) {
    const r = this.rows[i], x = this.laneX(r.lane), on = r.id === this.selected
    const kind = `dot c-${this.colour(r.lane)}${on ? " selected" : ""}${this.path.has(i) ? " on" : ""}`
    if (on) svg("circle", { cx: x, cy: y, r: 8, class: `ring c-${this.colour(r.lane)}` }, out)
    if (r.source === "update" || r.source === "fork") svg("rect", { x: x - 4.5, y: y - 4.5, width: 9, height: 9, rx: 1.5, class: kind, transform: r.source === "fork" ? `rotate(45 ${x} ${y})` : null }, out)
    else svg("circle", { cx: x, cy: y, r: r.source === "input" ? 5.5 : 4.5, class: kind + (r.source === "input" ? " hollow" : "") }, out)
  }

  paint() {
    for (const [i, row] of this.dom) {
      const on = this.rows[i].id === this.selected
      row.classList.toggle("selected", on)
      row.classList.toggle("on-path", this.path.has(i))
      row.classList.toggle("dim", !!this.matches && !this.matches.includes(i))
      row.classList.toggle("match", !!this.matches && this.matches.includes(i))
      row.setAttribute("aria-selected", String(on))
      if (on) this.list.setAttribute("aria-activedescendant", row.id)
    }
  }

  reveal(i) {
    const y = i * this.tall, { scrollTop, clientHeight } = this.list
    if (y < scrollTop + this.tall * 0.5) this.list.scrollTop = Math.max(0, y - clientHeight / 3)
    else if (y > scrollTop + clientHeight - this.tall * 1.5) this.list.scrollTop = y - (clientHeight * 2) / 3
  }

  // A serial makes two reports of the same choice different, so that neither is taken for no change.
  next() {
    this.serial = (this.serial ?? 0) + 1
    return `${Date.now()}-${this.serial}`
  }

  // -- choosing and finding ------------------------------------------------------------------

  choose(i) {
    this.selected = this.rows[i].id
    this.trace()
    this.reveal(i)
    this.drawn = null
    this.draw()
    this.host.dataset.selected = this.selected
    const report = { checkpoint: this.selected, serial: (this.asked = this.next()) }
    clearTimeout(this.timer)                      // a held arrow key reports only where it stops
    this.timer = setTimeout(() => this.set("selected", report), 60)
  }

  key(event) {
    const i = this.index.get(this.selected) ?? 0, last = this.rows.length - 1
    const page = Math.max(1, Math.floor(this.list.clientHeight / this.tall) - 1)
    const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: last, PageDown: i + page, PageUp: i - page }[event.key]
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    this.choose(Math.min(last, Math.max(0, to)))
  }

  search() {
    const wanted = this.find.value.trim().toLowerCase()
    this.matches = wanted ? this.rows.flatMap((r, i) => (r.text.includes(wanted) ? [i] : [])) : null
    this.count.textContent = this.matches ? `${this.matches.length} of ${this.rows.length}` : this.summary
    this.paint()
  }

  jump(by) {
    if (!this.matches?.length) return
    const at = this.index.get(this.selected) ?? -1
    const next = by > 0 ? this.matches.find(i => i > at) ?? this.matches[0] : this.matches.findLast(i => i < at) ?? this.matches.at(-1)
    this.choose(next)
  }
}
