import { autocompletion } from '@codemirror/autocomplete'
import { yaml } from '@codemirror/lang-yaml'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, type Text } from '@codemirror/state'
import { EditorView, placeholder } from '@codemirror/view'
import { basicSetup } from 'codemirror'
import { useEffect, useRef } from 'react'
import { cx } from '../../components/class-names.ts'
import { editorTheme } from '../../components/editor-theme.ts'
import { completeCompose, composeHover } from './compose-hints.ts'

export type EditorProblem = { line: number; column: number; level: 'error' | 'warning'; message: string }
/** Where the cursor is put; `request` tells two requests for the same place apart. */
export type EditorTarget = { line: number; column: number; request: number }

type Props = {
  label: string
  language: 'yaml' | 'env'
  value: string
  onChange: (value: string) => void
  problems: readonly EditorProblem[]
  target: EditorTarget | null
  placeholder?: string
  hidden?: boolean
}

/** An editor for compose and `.env` files; problems are marked where they are. */
export function CodeEditor(props: Props) {
  const { label, language, value, problems, target, hidden } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef(props)
  latest.current = props
  const reached = useRef(0)
  const labelled = useRef(new Compartment())

  useEffect(() => {
    if (!host.current) return
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          basicSetup,
          language === 'yaml'
            ? [yaml(), autocompletion({ override: [completeCompose], icons: false }), composeHover]
            : [],
          editorTheme,
          lintGutter(),
          placeholder(latest.current.placeholder ?? ''),
          labelled.current.of(nameContent(latest.current.label)),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((one) => one.isUserEvent('set')))
              latest.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [])

  useEffect(() => {
    view.current?.dispatch({ effects: labelled.current.reconfigure(nameContent(label)) })
  }, [label])
  useEffect(() => {
    const editor = view.current
    if (!editor || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value }, userEvent: 'set' })
  }, [value])
  useEffect(() => {
    const editor = view.current
    if (editor) editor.dispatch(setDiagnostics(editor.state, toDiagnostics(editor.state.doc, problems)))
  }, [problems])
  useEffect(() => {
    const editor = view.current
    if (!editor || !target || hidden || reached.current === target.request) return
    reached.current = target.request
    const anchor = toOffset(editor.state.doc, target)
    editor.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
    editor.focus()
    editor.dom.scrollIntoView({ block: 'nearest' })
  }, [target, hidden])

  return (
    <div
      ref={host}
      hidden={hidden}
      className={cx(
        'overflow-hidden bg-sunken',
        hidden && 'hidden',
        language === 'env' && 'max-md:[--editor-min-height:120px]',
      )}
    />
  )
}

const nameContent = (label: string) => EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' })

function toDiagnostics(doc: Text, problems: readonly EditorProblem[]): Diagnostic[] {
  return problems.map((problem) => {
    const from = toOffset(doc, problem)
    const end = doc.lineAt(from).to
    const word = /^[\w.$-]+/.exec(doc.sliceString(from, Math.min(end, from + 200)))?.[0].length ?? 1
    return { from, to: Math.min(end, from + word), severity: problem.level, message: problem.message }
  })
}

/** The text may have become shorter since the problem was found. */
function toOffset(doc: Text, { line, column }: { line: number; column: number }): number {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return Math.min(from + Math.max(column - 1, 0), to)
}
