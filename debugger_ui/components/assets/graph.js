// The graph: laid out once per topology, then only classes and badges change.
//
// Rule: one layout per `layout_key`; every other message from Python repaints states.
// Rule: the selection is Python's; a click marks the node at once and reports it.

import { h, svg, iconPath, plain, tellCut } from "./dom.js"

const instances = new WeakMap()
let engine = null
const layoutEngine = () => (engine ??= import(new URL("./viz-3.31.0.js", import.meta.url).href).then(m => m.instance()))

const STATES = ["running", "failed", "waiting", "next", "done", "edited"]
const WORDS = { running: "running", failed: "failed", waiting: "waiting for an answer", next: "runs next", done: "done", edited: "edited in its name", idle: "not reached" }
const POINTS_PER_INCH = 72
const READABLE = 0.72
/** Nodes and edges beyond which a layout would hold the page for too long. */
const MOST = 1500

/** A node's name for people: one inside a cluster with the way to it. */
const spoken = name => plain(name).replaceAll("|", " / ")

export default function ({ data, parentElement, setStateValue }) {
  let view = instances.get(parentElement)
  if (!view) {
    view = new GraphView(parentElement.querySelector(".graph"))
    instances.set(parentElement, view)
  }
  // The serial makes two clicks on the same node different, so that neither is taken for no change.
  view.report = node => setStateValue("selected", { node, serial: `${Date.now()}-${(view.serial = (view.serial ?? 0) + 1)}` })
  view.update(data)
  return () => {
    view.destroy()
    instances.delete(parentElement)
  }
}

class GraphView {
  constructor(host) {
    this.host = host
    this.canvas = host.querySelector("svg.canvas")
    this.twin = host.querySelector(".twin")
    this.legend = host.querySelector(".legend")
    this.nodes = new Map()
    this.edges = []
    this.scale = 1
    this.x = this.y = 0
    this.moved = false
    this.listen()
  }

  listen() {
    this.abort = new AbortController()
    const on = { signal: this.abort.signal }
    const tool = name => this.host.querySelector(`[data-act=${name}]`)
    this.canvas.addEventListener("click", e => this.pick(e), on)
    this.canvas.addEventListener("keydown", e => {
      if (e.key !== "Enter" && e.key !== " ") return
      e.preventDefault()
      this.pick(e)
    }, on)
    this.canvas.addEventListener("wheel", e => this.zoom(e), { passive: false, ...on })
    this.listenDrag(on)
    tool("fit").addEventListener("click", () => this.whole(), on)
    tool("active").addEventListener("click", () => this.centre(this.active()), on)
    tool("text").addEventListener("click", () => this.toggleTwin(), on)
    this.twin.addEventListener("click", e => {
      const row = e.target.closest("[data-node]")
      if (row) this.choose(row.dataset.node)
    }, on)
    this.twin.addEventListener("keydown", e => {
      const row = e.key === "Enter" && e.target.closest("[data-node]")
      if (row) this.choose(row.dataset.node)
    }, on)
    tellCut(this.legend, on)
    this.resize = new ResizeObserver(() => { if (!this.moved) this.fit() })
    this.resize.observe(this.canvas)
  }

  listenDrag(on) {
    let start = null
    this.canvas.addEventListener("pointerdown", e => { start = { x: e.clientX, y: e.clientY, left: this.x, top: this.y, drag: false } }, on)
    this.canvas.addEventListener("pointermove", e => {
      if (!start) return
      const dx = e.clientX - start.x, dy = e.clientY - start.y
      if (!start.drag && Math.abs(dx) + Math.abs(dy) > 4) {
        start.drag = this.moved = true
        this.canvas.setPointerCapture(e.pointerId)
      }
      if (start.drag) this.move(start.left + dx, start.top + dy)
    }, on)
    const end = () => { this.dragged = start?.drag; start = null }
    this.canvas.addEventListener("pointerup", end, on)
    this.canvas.addEventListener("pointercancel", end, on)
  }

  destroy() {
    this.abort.abort()
    this.resize.disconnect()
  }

  // -- data in ---------------------------------------------------------------------------

  update(data) {
    this.data = data
    if (this.layoutKey === data.layout_key) return this.paint()
    const key = (this.layoutKey = data.layout_key)
    if (data.nodes.length + data.edges.length > MOST) {
      const size = `${data.nodes.length.toLocaleString("en")} nodes and ${data.edges.length.toLocaleString("en")} edges`
      this.canvas.replaceChildren()
      this.nodes.clear()
      this.edges = []
      this.showTwin(true, `${size} are too many to lay out here. The same graph as a table:`)
      return this.paint()
    }
    this.host.classList.add("loading")
    layoutEngine().then(viz => {
      if (this.layoutKey !== key) return
      this.draw(viz.renderJSON(data.dot))
      this.host.classList.remove("loading")
      this.host.dataset.draws = +(this.host.dataset.draws ?? 0) + 1
      this.moved = false
      this.fit()
      this.paint()
    }).catch(error => {
      this.host.classList.remove("loading")
      this.showTwin(true, `The drawing could not be laid out (${error.message}). The same graph as a table:`)
      this.paint()
    })
  }

  // -- drawing, once per topology ----------------------------------------------------------

  draw(layout) {
    this.canvas.replaceChildren()
    this.nodes.clear()
    this.edges = []
    const [, , width, height] = layout.bb.split(",").map(Number)
    this.width = width
    this.height = height
    this.root = svg("g", {}, this.canvas)
    const objects = layout.objects ?? []
    const byId = new Map(this.data.nodes.map(n => [n.id, n]))
    const [clusters, lines, names, boxes] = Array.from({ length: 4 }, () => svg("g", {}, this.root))
    for (const o of objects) if (o.bb) this.drawCluster(o, clusters, names)
    for (const e of layout.edges ?? []) if (e.pos) this.drawEdge(e, byId.get(objects[e.tail].name), byId.get(objects[e.head].name), lines)
    for (const o of objects) if (o.pos && byId.has(o.name)) this.drawNode(o, byId.get(o.name), boxes)
  }

  flip(y) { return this.height - y }

  drawCluster(object, parent, names) {
    const [x0, y0, x1, y1] = object.bb.split(",").map(Number)
    const cluster = this.data.clusters.find(c => c.id === object.name)
    const g = svg("g", { class: "cluster" }, parent)
    svg("rect", { x: x0, y: this.flip(y1), width: x1 - x0, height: y1 - y0, rx: 10 }, g)
    // Its name stands above the lines: an edge may pass under it.
    svg("text", { x: x0 + 12, y: this.flip(y1) + 17 }, svg("g", { class: "cluster" }, names), plain(cluster?.name ?? ""))
  }

  drawEdge(edge, tail, head, parent) {
    const points = [], ends = {}
    for (const part of edge.pos.split(" ")) {
      const at = part.split(",")
      if (at[0] === "e" || at[0] === "s") ends[at[0]] = at.slice(1).map(Number)
      else points.push(at.map(Number))
    }
    const spec = this.data.edges.find(e => e.id === edge.id) ?? {}
    const g = svg("g", { class: "edge" + (spec.conditional ? " conditional" : ""), "data-edge": `${tail.name}→${head.name}` }, parent)
    svg("title", {}, g, `${plain(tail.name)} → ${plain(head.name)}` + (spec.conditional ? " (conditional)" : ""))
    const d = `M${points[0][0]},${this.flip(points[0][1])}C` + points.slice(1).map(p => `${p[0]},${this.flip(p[1])}`).join(" ")
    svg("path", { d, class: "line" }, g)
    if (ends.e) this.drawTip(points[points.length - 1], ends.e, g)
    if (spec.label && edge.lp) {
      const [x, y] = edge.lp.split(",").map(Number)
      svg("text", { x, y: this.flip(y) + 4, class: "label" }, g, plain(spec.label))
    }
    this.edges.push({ id: spec.id, g })
  }

  drawTip([x0, y0], [x1, y1], parent) {
    const dx = x1 - x0, dy = y1 - y0, length = Math.hypot(dx, dy) || 1
    const nx = (-dy / length) * 3.6, ny = (dx / length) * 3.6
    const at = (x, y) => `${x},${this.flip(y)}`
    svg("path", { class: "tip", d: `M${at(x1, y1)}L${at(x0 + nx, y0 + ny)}L${at(x0 - nx, y0 - ny)}Z` }, parent)
  }

  drawNode(object, node, parent) {
    const [x, y] = object.pos.split(",").map(Number)
    const w = object.width * POINTS_PER_INCH, tall = object.height * POINTS_PER_INCH
    const g = svg("g", { class: "node", "data-node": node.name, role: "button", transform: `translate(${x},${this.flip(y)})` }, parent)
    const title = svg("title", {}, g)
    if (!node.terminal) g.setAttribute("tabindex", "0")
    svg("rect", { class: "halo", x: -w / 2 - 4, y: -tall / 2 - 4, width: w + 8, height: tall + 8, rx: node.terminal ? tall : 11 }, g)
    svg("rect", { class: "box", x: -w / 2, y: -tall / 2, width: w, height: tall, rx: node.terminal ? tall / 2 : 7 }, g)
    const badge = svg("g", { class: "badge", transform: `translate(${-w / 2 + 9},-7.5) scale(.94)` }, g)
    const text = svg("text", { x: node.terminal ? 0 : 11, y: 4.5 }, g, plain(node.label))
    const visits = svg("g", { class: "visits", transform: `translate(${w / 2 + 8},${-tall / 2})` }, g)
    const pill = svg("rect", { rx: 8, height: 16, y: -8 }, visits)
    const count = svg("text", { y: 3.8 }, visits)
    this.nodes.set(node.name, { g, title, badge, text, visits, pill, count, x, y: this.flip(y), node })
  }

  // -- states, on every message --------------------------------------------------------------

  stateOf(name) {
    return STATES.find(s => this.data[s]?.includes(name)) ?? "idle"
  }

  active() {
    const { running = [], waiting = [], failed = [], next = [] } = this.data
    return [...running, ...waiting, ...failed, ...next]
  }

  paint() {
    const taken = new Set(this.data.taken ?? [])
    for (const [name, parts] of this.nodes) this.paintNode(name, parts)
    for (const { id, g } of this.edges) g.classList.toggle("taken", taken.has(id))
    this.paintTwin()
    this.paintLegend()
    const active = this.active()
    this.host.querySelector("[data-act=active]").disabled = !active.length
    if (active.length && !this.visible(active)) this.centre(active)
    this.host.dataset.ready = this.data.stamp ?? ""
  }

  paintNode(name, parts) {
    const state = this.stateOf(name), visits = this.data.visits?.[name] ?? 0, now = this.data.counts?.[name] ?? 0
    const selected = this.data.selected === name
    parts.g.setAttribute("class", `node ${state}${parts.node.terminal ? " terminal" : ""}${selected ? " selected" : ""}`)
    parts.g.setAttribute("data-state", state)
    const said = `${spoken(name)}: ${WORDS[state]}` + (now > 1 ? `, ${now} tasks in this superstep` : "") + (visits ? `, ran in ${visits} superstep${visits > 1 ? "s" : ""} on this branch` : "")
    parts.g.setAttribute("aria-label", said)
    parts.title.textContent = said
    parts.badge.replaceChildren()
    if (!parts.node.terminal) iconPath(state === "idle" ? "todo" : state, parts.badge)
    const label = now > 1 ? `×${now}` : visits > 1 ? `${visits} runs` : ""
    parts.visits.style.display = label ? "" : "none"
    parts.count.textContent = label
    const width = label.length * 5.8 + 12
    parts.pill.setAttribute("width", width)
    parts.pill.setAttribute("x", -width)
    parts.count.setAttribute("x", -width / 2)
  }

  /** How many tasks of a node stand as its mark says: of several all, ` ×3`, or some, ` 1 of 3`. */
  howMany(name) {
    const all = this.data.counts?.[name] ?? 0, some = this.data.marked?.[name]
    return all < 2 ? "" : some ? ` ${some} of ${all}` : ` ×${all}`
  }

  paintLegend() {
    // A cluster is named by its door.
    const shown = state => (this.data[state] ?? []).filter(name => !this.nodes.get(name)?.node.terminal && !name.includes("|"))
    const states = STATES.filter(state => shown(state).length)
    this.legend.replaceChildren(...states.map(state => {
      const mark = svg("svg", { viewBox: "0 0 16 16", width: 13, height: 13, class: "mark", "aria-hidden": "true" })
      iconPath(state, mark)
      const names = shown(state).map(n => plain(n) + (state === "done" ? "" : this.howMany(n)))
      const few = names.length > 3 ? [...names.slice(0, 3), `+${names.length - 3}`] : names
      return h("span", { class: `key ${state}`, "data-state": state }, mark, h("b", {}, WORDS[state]), h("span", { class: "names" }, state === "done" && names.length > 3 ? `${names.length} nodes` : few.join(", ")))
    }))
  }

  paintTwin() {
    const head = h("tr", {}, ...["Node", "State", "Supersteps", "Goes to"].map(t => h("th", {}, t)))
    const labels = new Map(this.data.nodes.map(node => [node.name, node.terminal ? plain(node.label) : spoken(node.name)]))
    const taken = new Set(this.data.taken ?? [])
    const rows = this.data.nodes.map(node => {
      const out = this.data.edges.filter(e => e.tail === node.name).flatMap((e, i) => [i ? ", " : "", this.way(e, labels.get(e.head), taken.has(e.id))])
      return h("tr", { "data-node": node.terminal ? null : node.name, tabindex: node.terminal ? null : 0, class: node.terminal ? "terminal" : this.data.selected === node.name ? "selected" : "" },
        h("td", { class: "name" }, labels.get(node.name)), h("td", {}, WORDS[this.stateOf(node.name)] + this.howMany(node.name)),
        h("td", {}, node.terminal ? "–" : String(this.data.visits?.[node.name] ?? 0)), h("td", {}, ...(out.length ? out : ["–"])))
    })
    const held = this.twin.contains(this.twin.getRootNode().activeElement) ? this.twin.getRootNode().activeElement.dataset.node : null
    this.twin.querySelector("table").replaceChildren(h("thead", {}, head), h("tbody", {}, ...rows))
    if (held) rows.find(row => row.dataset.node === held)?.focus()
  }

  /** An edge in words: taken ones are told by weight and by word, conditional ones by a question mark. */
  way(edge, to, taken) {
    const said = to + (edge.conditional ? "?" : "")
    return taken ? h("b", { title: "taken on this branch" }, `${said} (taken)`) : said
  }

  toggleTwin() { this.showTwin(this.twin.hidden) }

  showTwin(shown, why = "") {
    this.twin.hidden = !shown
    this.twin.querySelector("p").textContent = why
    this.host.querySelector("[data-act=text]").setAttribute("aria-pressed", String(shown))
  }

  // -- clicks and the camera -----------------------------------------------------------------

  pick(event) {
    if (this.dragged) { this.dragged = false; return }
    const g = event.target.closest?.("[data-node]")
    if (g && !this.nodes.get(g.dataset.node)?.node.terminal) this.choose(g.dataset.node)
  }

  choose(name) {
    this.data = { ...this.data, selected: name }
    this.paint()
    this.report(name)
  }

  zoom(event) {
    event.preventDefault()
    this.moved = true
    const box = this.canvas.getBoundingClientRect()
    const scale = Math.min(4, Math.max(0.06, this.scale * Math.exp(-event.deltaY * 0.0015)))
    const mx = event.clientX - box.left, my = event.clientY - box.top, ratio = scale / this.scale
    this.scale = scale
    this.move(mx - (mx - this.x) * ratio, my - (my - this.y) * ratio)
  }

  move(x, y) {
    this.x = x
    this.y = y
    this.root?.setAttribute("transform", `translate(${x.toFixed(1)},${y.toFixed(1)}) scale(${this.scale.toFixed(4)})`)
  }

  /** The whole graph where it can be read so; else what is active, or its beginning. */
  fit() {
    const box = this.whole()
    if (!box || this.scale >= READABLE / 2) return
    if (this.active().length) return this.centre(this.active())
    const first = this.nodes.get(this.data.nodes[0]?.name)
    this.scale = READABLE
    if (first) this.move(box.width / 2 - first.x * this.scale, 40 - first.y * this.scale)
  }

  /** The whole graph, however small. */
  whole() {
    const box = this.canvas.getBoundingClientRect()
    if (!box.width || !this.width) return null
    this.moved = false
    this.scale = Math.min(1.2, (box.width - 36) / this.width, (box.height - 36) / this.height)
    this.move((box.width - this.width * this.scale) / 2, (box.height - this.height * this.scale) / 2)
    return box
  }

  centre(names) {
    const box = this.canvas.getBoundingClientRect()
    const at = names.map(n => this.nodes.get(n)).filter(Boolean)
    if (!at.length || !box.width) return
    this.scale = Math.max(this.scale, READABLE)
    const x = at.reduce((sum, p) => sum + p.x, 0) / at.length, y = at.reduce((sum, p) => sum + p.y, 0) / at.length
    this.move(box.width / 2 - x * this.scale, box.height / 2 - y * this.scale)
  }

  visible(names) {
    const box = this.canvas.getBoundingClientRect()
    return names.every(name => {
      const p = this.nodes.get(name)
      if (!p) return true
      const x = p.x * this.scale + this.x, y = p.y * this.scale + this.y
      return x > 16 && y > 16 && x < box.width - 16 && y < box.height - 16
    })
  }
}
