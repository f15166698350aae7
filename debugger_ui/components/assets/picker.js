// A picker: the browser's own select, so that it works with the keyboard, with screen readers and at
// any size of the page, and shows every option as text.
//
// Rule: what is shown is Python's value; a choice is reported with the `rev` it was made for.

import { h, plain } from "./dom.js"

const instances = new WeakMap()

export default function ({ data, parentElement, setStateValue }) {
  let view = instances.get(parentElement)
  if (!view) {
    const select = parentElement.querySelector("select")
    view = { select, serial: 0, abort: new AbortController() }
    select.addEventListener("change", () => view.report(select.value), { signal: view.abort.signal })
    instances.set(parentElement, view)
  }
  view.report = index => setStateValue("picked", { rev: data.rev, value: data.options[+index][0], serial: `${Date.now()}-${++view.serial}` })
  draw(view, data)
  return () => {
    view.abort.abort()
    instances.delete(parentElement)
  }
}

function draw(view, data) {
  const { select } = view
  const key = JSON.stringify(data.options) + data.placeholder
  if (view.key !== key) {
    view.key = key
    const hint = data.placeholder ? [h("option", { value: "", disabled: true, hidden: true }, data.placeholder)] : []
    select.replaceChildren(...hint, ...data.options.map(([, label], i) => h("option", { value: i }, plain(label))))
  }
  const at = data.options.findIndex(([value]) => value === data.value)
  select.value = at < 0 ? "" : String(at)
  select.disabled = !data.options.length
  select.setAttribute("aria-label", data.label)
  select.title = at < 0 ? data.label : `${data.label}: ${plain(data.options[at][1])}`
  select.dataset.value = data.value ?? ""
}
