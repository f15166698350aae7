// The JSON editor: CodeMirror 6 in a Streamlit component. `VENDOR.md` says how the bundle is made.
//
// Rule: text goes to Python with the `rev` it belongs to, so a late message cannot edit another checkpoint.
// Rule: leaving the editor reports at once, so a click on a button always acts on what is on screen.

import { EditorView, keymap, lineNumbers, highlightActiveLine, drawSelection } from "@codemirror/view"
import { EditorState, Compartment } from "@codemirror/state"
import { history, historyKeymap, defaultKeymap, indentWithTab } from "@codemirror/commands"
import { json, jsonParseLinter } from "@codemirror/lang-json"
import { bracketMatching, foldGutter, foldKeymap, syntaxHighlighting, HighlightStyle, indentOnInput } from "@codemirror/language"
import { linter, lintGutter } from "@codemirror/lint"
import { tags } from "@lezer/highlight"

const TYPING_PAUSE = 350
const instances = new WeakMap()

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--st-blue-text-color)" },
  { tag: tags.string, color: "var(--st-green-text-color)" },
  { tag: tags.number, color: "var(--st-violet-text-color)" },
  { tag: [tags.bool, tags.null], color: "var(--st-orange-text-color)" },
  { tag: tags.invalid, color: "var(--st-red-text-color)" },
])
const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--st-text-color)", backgroundColor: "transparent" },
  ".cm-scroller": { fontFamily: "var(--st-code-font)", overflow: "auto", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--st-text-color)" },
  ".cm-cursor": { borderLeftColor: "var(--st-text-color)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--st-gray-text-color)", border: "none" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--st-blue-background-color) !important" },
  ".cm-tooltip": { background: "var(--st-secondary-background-color)", color: "var(--st-text-color)", border: "1px solid var(--st-border-color)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--st-red-color)" },
})

const parse = jsonParseLinter()
/** An empty editor is no mistake yet: whoever reads it says whether it may be empty. */
const complaints = view => (view.state.doc.length ? parse(view) : [])

export default function ({ data, parentElement, setStateValue }) {
  let view = instances.get(parentElement)
  if (!view) {
    view = new Editor(parentElement, data)
    instances.set(parentElement, view)
  }
  view.set = setStateValue
  view.update(data)
  return () => {
    view.destroy()
    instances.delete(parentElement)
  }
}

class Editor {
  constructor(root, data) {
    this.host = root.querySelector(".editor")
    this.rev = data.rev
    this.sent = data.value
    this.locked = new Compartment()
    this.view = new EditorView({
      parent: this.host,
      root,
      state: EditorState.create({ doc: data.value, extensions: this.extensions(data) }),
    })
  }

  extensions(data) {
    const push = () => { this.push(); return true }
    return [
      lineNumbers(), foldGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(),
      syntaxHighlighting(colours), theme, json(), linter(complaints), lintGutter(),
      keymap.of([{ key: "Mod-Enter", run: push }, { key: "Escape", run: v => { v.contentDOM.blur(); return true } }, indentWithTab, ...defaultKeymap, ...historyKeymap, ...foldKeymap]),
      this.locked.of(EditorState.readOnly.of(!!data.readonly)),
      EditorView.contentAttributes.of({ "aria-label": data.label }),
      EditorView.domEventHandlers({ blur: () => { this.push(); return false } }),
      EditorView.updateListener.of(update => {
        if (!update.docChanged || this.replacing) return
        this.host.dataset.dirty = "true"
        clearTimeout(this.timer)
        this.timer = setTimeout(() => this.push(), TYPING_PAUSE)
      }),
    ]
  }

  push() {
    clearTimeout(this.timer)
    const text = this.view.state.doc.toString()
    if (text === this.sent) return
    this.sent = text
    this.set("doc", { rev: this.rev, text })
  }

  update(data) {
    if (data.rev !== this.rev) {
      this.rev = data.rev
      this.sent = data.value
      this.replacing = true
      this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: data.value } })
      this.replacing = false
      this.host.dataset.dirty = "false"
    }
    this.view.dispatch({ effects: this.locked.reconfigure(EditorState.readOnly.of(!!data.readonly)) })
    this.host.dataset.rev = data.rev
  }

  destroy() {
    clearTimeout(this.timer)
    this.view.destroy()
  }
}
