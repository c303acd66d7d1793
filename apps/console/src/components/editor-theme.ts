import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const look: Extension = EditorView.theme({
  '&': { fontSize: '12px', color: 'var(--ink)', backgroundColor: 'transparent' },
  '.cm-scroller': {
    fontFamily: '"JetBrains Mono Variable", ui-monospace, monospace',
    lineHeight: '20px',
    maxHeight: '70dvh',
    minHeight: 'var(--editor-min-height, 288px)',
  },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-3)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-placeholder': { color: 'var(--ink-2)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection': {
    backgroundColor: 'color-mix(in oklch, var(--accent) 28%, transparent) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface-raised)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    color: 'var(--ink)',
  },
  '.cm-completionInfo': { maxWidth: '320px', padding: '6px 8px' },
  '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--ink)' },
  '.cm-panels': { backgroundColor: 'var(--surface)', color: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
})

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--state-running)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--state-progress)' },
  { tag: tags.invalid, color: 'var(--state-failed)' },
])

/** The console's colours and fonts for CodeMirror. */
export const editorTheme: Extension = [look, syntaxHighlighting(colours)]
