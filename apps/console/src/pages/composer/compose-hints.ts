import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { hoverTooltip } from '@codemirror/view'
import { describeComposePath } from '@crux/compose/schema'
import { findYamlCursor, findYamlKey } from '../../composer/yaml-path.ts'

/** Keys and values that the compose schema has at the cursor. */
export function completeCompose({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const { number, from } = state.doc.lineAt(pos)
  const cursor = findYamlCursor(state.doc.toString().split('\n'), number - 1, pos - from)
  if (!cursor || (cursor.typed === '' && !explicit && cursor.expects === 'key')) return null
  const { keys = [], values = [] } = describeComposePath(cursor.path) ?? {}
  const needsSpace = cursor.expects === 'value' && state.sliceDoc(pos - 1, pos) === ':'
  const options =
    cursor.expects === 'key'
      ? keys
          .filter(({ name }) => !cursor.siblings.has(name))
          .map(({ name, description, deprecated }) => ({
            label: name,
            apply: `${name}: `,
            info: description,
            type: 'property',
            boost: deprecated ? -50 : 0,
          }))
      : values.map((value) => ({ label: value, apply: needsSpace ? ` ${value}` : value, type: 'enum' }))
  if (options.length === 0) return null
  return { from: pos - cursor.typed.length, options, validFor: /^[\w.-]*$/ }
}

/** The description of the key under the pointer. */
export const composeHover = hoverTooltip(({ state }, pos) => {
  const { number, from } = state.doc.lineAt(pos)
  const path = findYamlKey(state.doc.toString().split('\n'), number - 1, pos - from)
  const description = path && describeComposePath(path)?.description
  if (!description) return null
  const word = state.wordAt(pos)
  return {
    pos: word?.from ?? pos,
    end: word?.to,
    create() {
      const dom = document.createElement('div')
      dom.className = 'max-w-96 px-2 py-1'
      dom.textContent = description
      return { dom }
    },
  }
})
