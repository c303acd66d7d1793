import { autocompletion } from '@codemirror/autocomplete'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { type Diagnostic, linter, lintGutter } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { basicSetup } from 'codemirror'
import { useEffect, useRef } from 'react'
import { editorTheme } from './editor-theme.ts'
import { completeJson, jsonHover, toRange } from './json-editor-hints.ts'
import type { JsonSchema } from './json-schema-hints.ts'

type Problem = { property: string | undefined; message: string } | null
type Props = {
  label: string
  value: string
  onChange: (value: string) => void
  readOnly: boolean
  /** The schema of the JSON, for completions while typing and descriptions on hover. */
  schema: JsonSchema
  /** Problems of a text that is valid JSON; each is marked at its property. */
  lint: (value: string) => Problem
  onFocus: () => void
  onBlur: () => void
}

/** CodeMirror with the console's colours; loaded only where JSON is edited. */
export function JsonEditor(props: Props) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef(props)
  latest.current = props
  const readOnly = useRef(new Compartment())

  useEffect(() => {
    if (!host.current) return
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          basicSetup,
          json(),
          editorTheme,
          lintGutter(),
          linter((current) => findProblems(current, (text) => latest.current.lint(text)), { delay: 300 }),
          autocompletion({ override: [(context) => completeJson(context, latest.current.schema)], icons: false }),
          jsonHover(() => latest.current.schema),
          readOnly.current.of(EditorState.readOnly.of(latest.current.readOnly)),
          EditorView.contentAttributes.of({ 'aria-label': latest.current.label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((one) => one.isUserEvent('set')))
              latest.current.onChange(update.state.doc.toString())
            if (update.focusChanged) (update.view.hasFocus ? latest.current.onFocus : latest.current.onBlur)()
          }),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [])

  useEffect(() => {
    const editor = view.current
    if (!editor || editor.state.doc.toString() === props.value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: props.value }, userEvent: 'set' })
  }, [props.value])
  useEffect(() => {
    view.current?.dispatch({ effects: readOnly.current.reconfigure(EditorState.readOnly.of(props.readOnly)) })
  }, [props.readOnly])

  return <div ref={host} className="min-h-72 overflow-hidden rounded-b-box bg-sunken" />
}

const parseLint = jsonParseLinter()

function findProblems(view: EditorView, lint: (text: string) => Problem): Diagnostic[] {
  const broken = parseLint(view)
  if (broken.length > 0) return broken
  const text = view.state.doc.toString()
  const problem = lint(text)
  if (!problem) return []
  const { from, to } = toRange(view.state, problem.property ?? '') ?? { from: 0, to: Math.min(1, text.length) }
  return [{ from, to, severity: 'error', message: problem.message }]
}
